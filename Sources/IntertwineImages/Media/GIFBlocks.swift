/// Goes through a GIF (GIF89a sections 17 to 27) from block to block: how large it is once drawn, how many frames it has, where it ends.
struct GIFBlocks: Sendable {
    /// The first frame's, where that is larger than the screen: viewers make the screen as large as that, whatever was said.
    private(set) var size: FrameReader.Finding = .unclear
    private(set) var frames = 0
    private var screen: FrameSize?
    /// Within data that comes in pieces of up to 255 bytes, the empty one last.
    private var isInData = false

    enum Step: Hashable {
        /// So many bytes from here on are read, and of no more interest.
        case pass(Int)
        case more
        /// The trailer stands here.
        case end
        /// What stands here is no block.
        case nonsense
    }

    /// - Parameter bytes: from the start of the file, or of what comes after what was passed.
    mutating func read(_ bytes: ArraySlice<UInt8>) -> Step {
        func byte(_ place: Int) -> UInt8 { bytes[bytes.startIndex + place] }
        func number(_ place: Int) -> Int { Int(byte(place)) | Int(byte(place + 1)) << 8 }
        guard let screen else {
            guard bytes.count >= 13 else { return .more }
            let found = FrameSize(width: number(6), height: number(8))
            screen = found
            if found.fault == .tooManyPixels { size = .size(found) }
            return .pass(13 + Self.table(byte(10)))
        }
        guard let first = bytes.first else { return .more }
        if isInData {
            isInData = first != 0
            return .pass(1 + Int(first))
        }
        switch first {
        case 0x21:
            guard bytes.count >= 2 else { return .more }
            isInData = true
            return .pass(2)
        case 0x2c:
            guard bytes.count >= 10 else { return .more }
            if frames == 0 { settle(max(screen.width, number(5)), max(screen.height, number(7))) }
            frames += 1
            isInData = true
            // The descriptor, its colours, and the size of the codes that follow.
            return .pass(10 + Self.table(byte(9)) + 1)
        default:
            settle(screen.width, screen.height)
            return first == 0x3b ? .end : .nonsense
        }
    }

    private mutating func settle(_ width: Int, _ height: Int) {
        guard size == .unclear else { return }
        size = width > 0 && height > 0 ? .size(FrameSize(width: width, height: height)) : .unreadable
    }

    /// Bytes of the colours that flags announce.
    private static func table(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 0x07) + 1)
    }
}
