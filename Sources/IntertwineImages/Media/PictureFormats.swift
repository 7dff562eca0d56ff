/// Goes through the boxes of an AVIF (ISO 14496-12): to the sizes of its pictures, the `ispe` properties (ISO 23008-12 section 6.5.3), and
/// to the samples of a sequence of them (`stsz`).
struct AVIFBoxes: Sendable {
    private(set) var size: ImageHeaderParser.Finding = .unclear
    private(set) var frames = 1

    /// How much of a box that describes pictures is looked through.
    private static let longest = 32 * 1_024

    /// - Parameter bytes: from the start of a box on.
    mutating func read(_ bytes: ArraySlice<UInt8>) -> ImageHeaderParser.Step {
        guard bytes.count >= 8 else { return .more }
        let length = Self.number(bytes, 0)
        let isMovie = bytes.dropFirst(4).prefix(4).elementsEqual("moov".utf8)
        if isMovie || bytes.dropFirst(4).prefix(4).elementsEqual("meta".utf8) {
            // The last box has no size of its own, and the largest ones have it elsewhere.
            let part = length < 8 ? Self.longest : min(length, Self.longest)
            let isAllThere = bytes.count >= part
            if isMovie { readMovie(bytes.prefix(part)) } else { readImages(bytes.prefix(part), isComplete: isAllThere) }
            return isAllThere ? (length < 8 ? .done : .pass(length)) : .more
        }
        if length >= 8 { return .pass(length) }
        // Up to the end of the file: the data, and nothing behind it.
        guard length == 1 else { return unreadable() }
        guard bytes.count >= 16 else { return .more }
        let long = Self.number(bytes, 8) << 32 | Self.number(bytes, 12)
        return long >= 16 ? .pass(long) : unreadable()
    }

    private mutating func unreadable() -> ImageHeaderParser.Step {
        if size == .unclear { size = .unreadable }
        return .done
    }

    /// Of the whole picture and the tiles that it may be made of, the one with the most pixels.
    private mutating func readImages(_ bytes: ArraySlice<UInt8>, isComplete: Bool) {
        var largest: ImageDimensions?
        Self.each("ispe", in: bytes, room: 16) { rest in
            let size = ImageDimensions(width: Self.number(rest, 8), height: Self.number(rest, 12))
            if largest?.error == .tooManyPixels { return }
            if size.error == .tooManyPixels { largest = size }
            if size.error == nil, size.width * size.height > largest.map({ $0.width * $0.height }) ?? 0 { largest = size }
        }
        if let largest, largest.error == .tooManyPixels || isComplete { return size = .size(largest) }
        if isComplete { size = .unreadable }
    }

    /// The tracks' frames: how many, and how large where no picture said so.
    private mutating func readMovie(_ bytes: ArraySlice<UInt8>) {
        var samples = 1
        Self.each("stsz", in: bytes, room: 16) { samples = max(samples, Self.number($0, 12)) }
        frames = samples
        guard size == .unclear else { return }
        var found: ImageDimensions?
        Self.each("av01", in: bytes, room: 32) {
            found = ImageDimensions(width: Self.number($0, 28) >> 16, height: Self.number($0, 28) & 0xffff)
        }
        if let found { size = .size(found) }
    }

    /// - Parameter room: bytes from the name on, without which it is none.
    private static func each(_ name: String, in bytes: ArraySlice<UInt8>, room: Int, _ body: (ArraySlice<UInt8>) -> Void) {
        guard let first = name.utf8.first else { return }
        var rest = bytes
        while let place = rest.firstIndex(of: first) {
            rest = rest[place...]
            if rest.count >= room, rest.starts(with: name.utf8) { body(rest) }
            rest = rest.dropFirst()
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>, _ place: Int) -> Int {
        bytes.dropFirst(place).prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }
}

/// Goes through a GIF (GIF89a sections 17 to 27) from block to block: how large it is once drawn, how many frames it has, where it ends.
struct GIFBlocks: Sendable {
    /// The first frame's, where that is larger than the screen: viewers make the screen as large as that, whatever was said.
    private(set) var size: ImageHeaderParser.Finding = .unclear
    private(set) var frames = 0
    private var screen: ImageDimensions?
    /// Within data that comes in pieces of up to 255 bytes, the empty one last.
    private(set) var isInData = false

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
            let found = ImageDimensions(width: number(6), height: number(8))
            screen = found
            if found.error == .tooManyPixels { size = .size(found) }
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
            if frames == 0 { setDimensions(max(screen.width, number(5)), max(screen.height, number(7))) }
            frames += 1
            isInData = true
            // The descriptor, its colours, and the size of the codes that follow.
            return .pass(10 + Self.table(byte(9)) + 1)
        default:
            setDimensions(screen.width, screen.height)
            return first == 0x3b ? .end : .nonsense
        }
    }

    private mutating func setDimensions(_ width: Int, _ height: Int) {
        guard size == .unclear else { return }
        size = width > 0 && height > 0 ? .size(ImageDimensions(width: width, height: height)) : .unreadable
    }

    /// Bytes of the colours that flags announce.
    private static func table(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 0x07) + 1)
    }
}

/// What stands at one marker of a JPEG (ITU-T T.81 annex B).
enum JPEGSegment: Hashable {
    /// More bytes are needed to tell.
    case unclear
    /// The picture's data or its end come before any frame.
    case unreadable
    case frame(ImageDimensions)
    /// Something else, of so many bytes with its marker.
    case other(length: Int)

    /// - Parameter bytes: from the marker on.
    init(_ bytes: ArraySlice<UInt8>) {
        func byte(_ place: Int) -> UInt8 { bytes[bytes.startIndex + place] }
        func number(_ place: Int) -> Int { Int(byte(place)) << 8 | Int(byte(place + 1)) }
        // Decoders pass over what is no marker (libjpeg's `next_marker`), and so must who wants to see the frame that they see.
        let junk = bytes.prefix { $0 != 0xff }.count
        guard junk == 0 else {
            self = .other(length: junk)
            return
        }
        guard bytes.count >= 2 else {
            self = .unclear
            return
        }
        switch byte(1) {
        case 0x00, 0x01, 0xd0...0xd7:
            // No marker, or one that stands alone.
            self = .other(length: 2)
        case 0xff:
            // A marker may be preceded by any number of these.
            self = .other(length: 1)
        case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
            guard bytes.count >= 9 else {
                self = .unclear
                return
            }
            // C2, C6, CA, CE.
            let isProgressive = byte(1) & 0x03 == 0x02
            self = .frame(ImageDimensions(width: number(7), height: number(5), isProgressive: isProgressive))
        case 0xc4, 0xc8, 0xcc, 0xdb...0xfe:
            guard bytes.count >= 4 else {
                self = .unclear
                return
            }
            self = .other(length: 2 + max(2, number(2)))
        default: self = .unreadable
        }
    }
}

/// Goes through the chunks of a PNG (section 5.3) up to its data: its size, and the frames of an animated one (`acTL`, which comes before).
struct PNGChunks: Sendable {
    private(set) var size: ImageHeaderParser.Finding = .unclear
    private(set) var frames = 1

    /// - Parameter bytes: from the start of the file, or of a chunk.
    mutating func read(_ bytes: ArraySlice<UInt8>) -> ImageHeaderParser.Step {
        func number(_ place: Int) -> Int { bytes.dropFirst(place).prefix(4).reduce(0) { $0 << 8 | Int($1) } }
        func holds(_ text: String, at place: Int) -> Bool { bytes.dropFirst(place).prefix(4).elementsEqual(text.utf8) }
        guard size != .unclear else {
            // Section 11.2.1: the header chunk comes first.
            guard bytes.count >= 24 else { return .more }
            guard number(8) == 13, holds("IHDR", at: 12) else {
                size = .unreadable
                return .done
            }
            size = .size(ImageDimensions(width: number(16), height: number(20)))
            return .pass(33)
        }
        guard bytes.count >= 12 else { return .more }
        if holds("acTL", at: 4) {
            frames = max(1, number(8))
            return .done
        }
        return holds("IDAT", at: 4) || holds("IEND", at: 4) ? .done : .pass(12 + number(0))
    }
}

/// Goes through a WebP (RFC 9649 section 2): the first chunk tells the size in one of three ways; an animation's frames follow it.
struct WebPChunks: Sendable {
    private(set) var size: ImageHeaderParser.Finding = .unclear
    private(set) var frames = 0

    /// - Parameter bytes: from the start of the file, or of a later chunk.
    mutating func read(_ bytes: ArraySlice<UInt8>) -> ImageHeaderParser.Step {
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
            size = .size(ImageDimensions(width: number(24, 3) + 1, height: number(27, 3) + 1))
            let isAnimated = number(20, 1) & 0x02 != 0
            let length = number(16, 4)
            return isAnimated ? .pass(20 + length + length % 2) : .done
        case "VP8L":
            guard number(20, 1) == 0x2f else { return unreadable() }
            let packed = number(21, 4)
            size = .size(ImageDimensions(width: packed & 0x3fff + 1, height: packed >> 14 & 0x3fff + 1))
        default:
            // RFC 6386 section 9.1: the start code, then fourteen bits each; the rest is scaling.
            guard bytes.dropFirst(23).prefix(3).elementsEqual([0x9d, 0x01, 0x2a]) else { return unreadable() }
            size = .size(ImageDimensions(width: number(26, 2) & 0x3fff, height: number(28, 2) & 0x3fff))
        }
        return .done
    }

    private mutating func unreadable() -> ImageHeaderParser.Step {
        size = .unreadable
        return .done
    }
}
