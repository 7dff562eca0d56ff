/// Goes through a GIF (GIF89a sections 17 to 26) up to its first frame: viewers make the screen as large as that, whatever was said.
struct GIFBlocks: Sendable {
    private var screen: FrameSize?
    /// Within an extension, whose data comes in pieces of up to 255 bytes, the empty one last.
    private var isInExtension = false

    /// - Parameter bytes: from the start of the file, or of what comes after what was passed.
    mutating func read(_ bytes: ArraySlice<UInt8>) -> FrameReader.Step {
        func byte(_ place: Int) -> UInt8 { bytes[bytes.startIndex + place] }
        func number(_ place: Int) -> Int { Int(byte(place)) | Int(byte(place + 1)) << 8 }
        guard let screen else {
            guard bytes.count >= 13 else { return .found(.unclear) }
            let size = FrameSize(width: number(6), height: number(8))
            if size.fault == .tooManyPixels { return .found(.size(size)) }
            screen = size
            return .pass(13 + Self.table(byte(10)))
        }
        guard let first = bytes.first else { return .found(.unclear) }
        if isInExtension {
            isInExtension = first != 0
            return .pass(1 + Int(first))
        }
        switch first {
        case 0x21:
            guard bytes.count >= 2 else { return .found(.unclear) }
            isInExtension = true
            return .pass(2)
        case 0x2c:
            guard bytes.count >= 9 else { return .found(.unclear) }
            return .found(Self.finding(max(screen.width, number(5)), max(screen.height, number(7))))
        default: return .found(Self.finding(screen.width, screen.height))
        }
    }

    private static func finding(_ width: Int, _ height: Int) -> FrameReader.Finding {
        width > 0 && height > 0 ? .size(FrameSize(width: width, height: height)) : .unreadable
    }

    /// Bytes of the colours behind the screen.
    private static func table(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 0x07) + 1)
    }
}
