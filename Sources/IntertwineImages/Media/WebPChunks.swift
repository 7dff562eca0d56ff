/// Goes through a WebP (RFC 9649 section 2): the first chunk tells the size in one of three ways; an animation's frames follow it.
struct WebPChunks: Sendable {
    private(set) var size: FrameReader.Finding = .unclear
    private(set) var frames = 0

    /// - Parameter bytes: from the start of the file, or of a later chunk.
    mutating func read(_ bytes: ArraySlice<UInt8>) -> FrameReader.Step {
        func number(_ place: Int, _ count: Int) -> Int {
            bytes.dropFirst(place).prefix(count).reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        guard size == .unclear else {
            guard bytes.count >= 8 else { return .more }
            if bytes.prefix(4).elementsEqual("ANMF".utf8) { frames += 1 }
            let length = number(4, 4)
            return .pass(8 + length + length % 2)
        }
        guard bytes.count >= 16 else { return .more }
        let format = String(decoding: bytes.dropFirst(12).prefix(4), as: UTF8.self)
        guard ["VP8 ", "VP8L", "VP8X"].contains(format) else { return unreadable() }
        guard bytes.count >= 30 else { return .more }
        switch format {
        case "VP8X":
            size = .size(FrameSize(width: number(24, 3) + 1, height: number(27, 3) + 1))
            let isAnimated = number(20, 1) & 0x02 != 0
            let length = number(16, 4)
            return isAnimated ? .pass(20 + length + length % 2) : .done
        case "VP8L":
            guard number(20, 1) == 0x2f else { return unreadable() }
            let packed = number(21, 4)
            size = .size(FrameSize(width: packed & 0x3fff + 1, height: packed >> 14 & 0x3fff + 1))
        default:
            // RFC 6386 section 9.1: the start code, then fourteen bits each; the rest is scaling.
            guard bytes.dropFirst(23).prefix(3).elementsEqual([0x9d, 0x01, 0x2a]) else { return unreadable() }
            size = .size(FrameSize(width: number(26, 2) & 0x3fff, height: number(28, 2) & 0x3fff))
        }
        return .done
    }

    private mutating func unreadable() -> FrameReader.Step {
        size = .unreadable
        return .done
    }
}
