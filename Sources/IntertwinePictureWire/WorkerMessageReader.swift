/// Puts together what a worker says, from the pieces in which it arrives. Pure.
package struct WorkerMessageReader: Sendable {
    /// The longest frame that is taken from it: it may have been taken over by a picture.
    private static let longestBody = 64 << 20

    /// Of a frame whose end is not here yet.
    private var pendingBytes: [UInt8] = []

    package init() {}

    /// - Returns: what is complete now. Nil for what no worker of ours says: nothing that it says later is of use.
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
                // All of it will be needed: no growing by doubling.
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
