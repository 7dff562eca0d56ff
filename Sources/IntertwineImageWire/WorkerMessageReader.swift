/// Assembles the messages of a worker from pieces. The type is pure: it performs no I/O.
package struct WorkerMessageReader: Sendable {
    /// The longest frame that is accepted from a worker, which an image may have compromised.
    private static let longestBody = 64 << 20

    /// The bytes of an incomplete frame.
    private var pendingBytes: [UInt8] = []

    package init() {}

    /// Adds bytes.
    ///
    /// - Returns: The complete messages; nil if the data is invalid, after which no further data can be used.
    package mutating func consume(_ bytes: some Collection<UInt8>) -> [WorkerMessage]? {
        pendingBytes.append(contentsOf: bytes)
        var answers: [WorkerMessage] = []
        var start = 0
        while pendingBytes.count - start >= WireFrame.headLength {
            let found = pendingBytes.withUnsafeBytes { bytes -> (isValid: Bool, length: Int, answer: WorkerMessage?) in
                let bytes = UnsafeRawBufferPointer(rebasing: bytes[start...])
                let head = UnsafeRawBufferPointer(rebasing: bytes.prefix(WireFrame.headLength))
                guard let (type, length) = WireFrame.head(head), length <= Self.longestBody else { return (false, 0, nil) }
                let whole = WireFrame.headLength + length
                guard bytes.count >= whole else { return (true, whole, nil) }
                let answer = WorkerMessage(type, UnsafeRawBufferPointer(rebasing: bytes[WireFrame.headLength..<whole]))
                return (answer != nil, whole, answer)
            }
            guard found.isValid else { return nil }
            guard let answer = found.answer else {
                // The complete frame will be buffered, so its capacity is reserved at once.
                pendingBytes.reserveCapacity(start + found.length)
                break
            }
            answers.append(answer)
            start += found.length
        }
        if start == pendingBytes.count { pendingBytes = [] } else if start > 0 { pendingBytes.removeFirst(start) }
        return answers
    }
}
