package struct WorkerMessageReader: Sendable {
    private static let longestBody = 64 << 20

    private var pendingBytes: [UInt8] = []

    package init() {}

    package mutating func consume(_ bytes: some Collection<UInt8>) -> [WorkerMessage]? {
        pendingBytes.append(contentsOf: bytes)
        var messages: [WorkerMessage] = []
        var start = 0
        while pendingBytes.count - start >= WireFrame.headLength {
            let found = pendingBytes.withUnsafeBytes { bytes -> (isValid: Bool, length: Int, message: WorkerMessage?) in
                let bytes = UnsafeRawBufferPointer(rebasing: bytes[start...])
                let head = UnsafeRawBufferPointer(rebasing: bytes.prefix(WireFrame.headLength))
                guard let (type, length) = WireFrame.head(head), length <= Self.longestBody else { return (false, 0, nil) }
                let total = WireFrame.headLength + length
                guard bytes.count >= total else { return (true, total, nil) }
                let message = WorkerMessage(type, UnsafeRawBufferPointer(rebasing: bytes[WireFrame.headLength..<total]))
                return (message != nil, total, message)
            }
            guard found.isValid else { return nil }
            guard let message = found.message else {
                // The complete frame will be buffered, so its capacity is reserved at once.
                pendingBytes.reserveCapacity(start + found.length)
                break
            }
            messages.append(message)
            start += found.length
        }
        if start == pendingBytes.count { pendingBytes = [] } else if start > 0 { pendingBytes.removeFirst(start) }
        return messages
    }
}
