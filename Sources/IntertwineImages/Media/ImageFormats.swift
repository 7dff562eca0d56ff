/// A parser of AVIF boxes (ISO 14496-12). It reads the dimensions of the images from `ispe` properties (ISO 23008-12 section 6.5.3), and
/// the number of samples of an image sequence from `stsz`.
struct AVIFBoxes: Sendable {
    private(set) var size: ImageHeaderParser.Finding = .unclear
    private(set) var frames = 1

    private static let longest = 32 * 1_024

    mutating func read(_ bytes: ArraySlice<UInt8>) -> ImageHeaderParser.Step {
        guard bytes.count >= 8 else { return .more }
        let length = Self.number(bytes, 0)
        let isMovie = bytes.dropFirst(4).prefix(4).elementsEqual("moov".utf8)
        if isMovie || bytes.dropFirst(4).prefix(4).elementsEqual("meta".utf8) {
            // The last box may have no size, and the largest ones have it in another field.
            let part = length < 8 ? Self.longest : min(length, Self.longest)
            let isAllThere = bytes.count >= part
            if isMovie { readMovie(bytes.prefix(part)) } else { readImages(bytes.prefix(part), isComplete: isAllThere) }
            return isAllThere ? (length < 8 ? .done : .pass(length)) : .more
        }
        if length >= 8 { return .pass(length) }
        // A size of 0 extends to the end of the file.
        guard length == 1 else { return unreadable() }
        guard bytes.count >= 16 else { return .more }
        let long = Self.number(bytes, 8) << 32 | Self.number(bytes, 12)
        return long >= 16 ? .pass(long) : unreadable()
    }

    private mutating func unreadable() -> ImageHeaderParser.Step {
        if size == .unclear { size = .unreadable }
        return .done
    }

    private mutating func readImages(_ bytes: ArraySlice<UInt8>, isComplete: Bool) {
        var largest: ImageDimensions?
        Self.each("ispe", in: bytes, minimumSize: 16) { rest in
            let size = ImageDimensions(width: Self.number(rest, 8), height: Self.number(rest, 12))
            if largest?.isTooLong == true { return }
            if size.isTooLong || size.width * size.height > largest.map({ $0.width * $0.height }) ?? 0 { largest = size }
        }
        if let largest, largest.isTooLong || isComplete { return size = .size(largest) }
        if isComplete { size = .unreadable }
    }

    private mutating func readMovie(_ bytes: ArraySlice<UInt8>) {
        var samples = 1
        Self.each("stsz", in: bytes, minimumSize: 16) { samples = max(samples, Self.number($0, 12)) }
        frames = samples
        guard size == .unclear else { return }
        var found: ImageDimensions?
        Self.each("av01", in: bytes, minimumSize: 32) {
            found = ImageDimensions(width: Self.number($0, 28) >> 16, height: Self.number($0, 28) & 0xffff)
        }
        if let found { size = .size(found) }
    }

    private static func each(_ name: String, in bytes: ArraySlice<UInt8>, minimumSize: Int, _ body: (ArraySlice<UInt8>) -> Void) {
        guard let first = name.utf8.first else { return }
        var rest = bytes
        while let offset = rest.firstIndex(of: first) {
            rest = rest[offset...]
            if rest.count >= minimumSize, rest.starts(with: name.utf8) { body(rest) }
            rest = rest.dropFirst()
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> Int {
        bytes.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }
}

struct GIFBlocks: Sendable {
    private(set) var size: ImageHeaderParser.Finding = .unclear
    private(set) var frames = 0
    private var screen: ImageDimensions?
    private var isInData = false

    enum Step: Hashable {
        case pass(Int)
        case more
        case end
        case nonsense
    }

    mutating func read(_ bytes: ArraySlice<UInt8>) -> Step {
        func byte(_ offset: Int) -> UInt8 { bytes[bytes.startIndex + offset] }
        func number(_ offset: Int) -> Int { Int(byte(offset)) | Int(byte(offset + 1)) << 8 }
        guard let screen else {
            guard bytes.count >= 13 else { return .more }
            let found = ImageDimensions(width: number(6), height: number(8))
            screen = found
            if found.isTooLong { size = .size(found) }
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
            // The descriptor, its color table, and the code size.
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

    /// Returns the size in bytes of the color table that the flags declare.
    private static func table(_ flags: UInt8) -> Int {
        flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 0x07) + 1)
    }
}

/// A segment of a JPEG at one marker (ITU-T T.81 annex B).
enum JPEGSegment: Hashable {
    case unclear
    case unreadable
    case frame(ImageDimensions, isBaseline: Bool)
    /// A segment of another type, with its length in bytes including the marker.
    case other(length: Int)

    init(_ bytes: ArraySlice<UInt8>) {
        func byte(_ offset: Int) -> UInt8 { bytes[bytes.startIndex + offset] }
        func number(_ offset: Int) -> Int { Int(byte(offset)) << 8 | Int(byte(offset + 1)) }
        // Decoders skip bytes before a marker (`next_marker` of libjpeg), and this parser has to find the frame that they find.
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
            // A literal byte, or a marker without a segment.
            self = .other(length: 2)
        case 0xff:
            // A marker may be preceded by any number of fill bytes.
            self = .other(length: 1)
        case 0xc0...0xc3, 0xc5...0xc7, 0xc9...0xcb, 0xcd...0xcf:
            guard bytes.count >= 9 else {
                self = .unclear
                return
            }
            self = .frame(ImageDimensions(width: number(7), height: number(5)), isBaseline: byte(1) <= 0xc1)
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

/// A parser of PNG chunks (section 5.3) before the image data.
struct PNGChunks: Sendable {
    private(set) var size: ImageHeaderParser.Finding = .unclear
    private(set) var frames = 1

    mutating func read(_ bytes: ArraySlice<UInt8>) -> ImageHeaderParser.Step {
        func number(_ offset: Int) -> Int { bytes.dropFirst(offset).prefix(4).reduce(0) { $0 << 8 | Int($1) } }
        func hasText(_ text: String, at offset: Int) -> Bool { bytes.dropFirst(offset).prefix(4).elementsEqual(text.utf8) }
        guard size != .unclear else {
            // The header chunk is the first one (section 11.2.1).
            guard bytes.count >= 24 else { return .more }
            guard number(8) == 13, hasText("IHDR", at: 12) else {
                size = .unreadable
                return .done
            }
            size = .size(ImageDimensions(width: number(16), height: number(20)))
            return .pass(33)
        }
        guard bytes.count >= 12 else { return .more }
        if hasText("acTL", at: 4) {
            frames = max(1, number(8))
            return .done
        }
        return hasText("IDAT", at: 4) || hasText("IEND", at: 4) ? .done : .pass(12 + number(0))
    }
}

/// A parser of WebP chunks (RFC 9649 section 2).
struct WebPChunks: Sendable {
    private(set) var size: ImageHeaderParser.Finding = .unclear
    private(set) var frames = 0

    mutating func read(_ bytes: ArraySlice<UInt8>) -> ImageHeaderParser.Step {
        func number(_ offset: Int, _ count: Int) -> Int {
            bytes.dropFirst(offset).prefix(count).reversed().reduce(0) { $0 << 8 | Int($1) }
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
            // RFC 6386 section 9.1: the start code, then 14 bits for each dimension; the remaining bits are for scaling.
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
