/// Writes the body of a streamed answer.
public struct ResponseWriter: Sendable {
    private let exchange: Exchange

    init(_ exchange: Exchange) {
        self.exchange = exchange
    }

    /// Sends bytes. Returns when there is room for more: at once as long as less than the output high-water mark is waiting.
    ///
    /// - Throws: `CancellationError` where the client is gone or has been too slow, ``ResponseWriterError`` where more is
    ///   written than was announced.
    public func write(_ bytes: [UInt8]) async throws {
        if bytes.isEmpty { return }
        try await exchange.write(bytes)
    }
}

/// A streamed body that is not what was announced.
public enum ResponseWriterError: Error, Hashable, Sendable {
    /// More bytes than the stated length.
    case tooLong
}
