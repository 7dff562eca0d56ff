/// The first chunk of a WebP (RFC 9649 section 2), which tells the size in one of three ways.
enum WebPFrame {
    /// - Parameter bytes: from the start of the file.
    static func read(_ bytes: [UInt8]) -> FrameReader.Finding {
        guard bytes.count >= 16 else { return .unclear }
        func number(_ place: Int, bytes count: Int) -> Int { bytes[place..<(place + count)].reversed().reduce(0) { $0 << 8 | Int($1) } }
        let format = String(decoding: bytes[12..<16], as: UTF8.self)
        guard ["VP8 ", "VP8L", "VP8X"].contains(format) else { return .unreadable }
        guard bytes.count >= 30 else { return .unclear }
        switch format {
        case "VP8X": return .size(FrameSize(width: number(24, bytes: 3) + 1, height: number(27, bytes: 3) + 1))
        case "VP8L":
            guard bytes[20] == 0x2f else { return .unreadable }
            let packed = number(21, bytes: 4)
            return .size(FrameSize(width: packed & 0x3fff + 1, height: packed >> 14 & 0x3fff + 1))
        default:
            // RFC 6386 section 9.1: the start code, then fourteen bits each; the rest is scaling.
            guard bytes[23..<26].elementsEqual([0x9d, 0x01, 0x2a]) else { return .unreadable }
            return .size(FrameSize(width: number(26, bytes: 2) & 0x3fff, height: number(28, bytes: 2) & 0x3fff))
        }
    }
}
