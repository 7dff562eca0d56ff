internal import IntertwineEventLoop

/// Writes the body of a streamed answer.
public struct ResponseWriter: Sendable {
    let connection: Connection
    let exchange: UInt64

    /// Sends bytes. Returns when there is room for more: at once as long as less than the output high-water mark is waiting.
    ///
    /// - Throws: `CancellationError` where the client is gone or has been too slow, ``ResponseWriterError`` where more is
    ///   written than was announced.
    public func write(_ bytes: [UInt8]) async throws {
        if bytes.isEmpty { return }
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            connection.worker.loop.execute {
                connection.write(bytes, exchange: exchange, continuation)
            }
        }
    }
}
