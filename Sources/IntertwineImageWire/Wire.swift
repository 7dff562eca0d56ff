package enum WireFrame: UInt8, Sendable {
    // Frames to the worker.
    case job = 1
    case cancel = 2
    // Frames from the worker.
    case hello = 16
    case done = 17
    case failed = 18

    package static let headLength = 5
    package static let longestBody = 1 << 30

    package static func head(_ head: UnsafeRawBufferPointer) -> (type: WireFrame, length: Int)? {
        var reader = WireReader(head)
        guard let type = reader.byte().flatMap(WireFrame.init(rawValue:)), let length = reader.word(), length <= longestBody else {
            return nil
        }
        return (type, Int(length))
    }
}

struct WireWriter {
    private var bytes: [UInt8]
    private let following: Int

    init(_ type: WireFrame, following: Int = 0) {
        bytes = [type.rawValue, 0, 0, 0, 0]
        self.following = following
    }

    mutating func byte(_ value: UInt8) { bytes.append(value) }

    mutating func half(_ value: UInt16) {
        byte(UInt8(truncatingIfNeeded: value))
        byte(UInt8(truncatingIfNeeded: value >> 8))
    }

    mutating func word(_ value: UInt32) {
        half(UInt16(truncatingIfNeeded: value))
        half(UInt16(truncatingIfNeeded: value >> 16))
    }

    mutating func append(_ more: some Sequence<UInt8>) { bytes.append(contentsOf: more) }

    var encodedBytes: [UInt8] {
        let length = bytes.count - WireFrame.headLength + following
        var frame = bytes
        for index in 0..<4 { frame[1 + index] = UInt8(truncatingIfNeeded: length >> (8 * index)) }
        return frame
    }
}

struct WireReader {
    private(set) var remaining: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { remaining = bytes }

    mutating func byte() -> UInt8? {
        guard let first = remaining.first else { return nil }
        remaining = UnsafeRawBufferPointer(rebasing: remaining.dropFirst())
        return first
    }

    mutating func half() -> UInt16? {
        guard let low = byte(), let high = byte() else { return nil }
        return UInt16(low) | UInt16(high) << 8
    }

    mutating func word() -> UInt32? {
        guard let low = half(), let high = half() else { return nil }
        return UInt32(low) | UInt32(high) << 16
    }

    mutating func bytes(_ count: Int) -> [UInt8]? {
        guard count <= remaining.count else { return nil }
        let bytes = Array(remaining.prefix(count))
        remaining = UnsafeRawBufferPointer(rebasing: remaining.dropFirst(count))
        return bytes
    }
}
