/// Goes through the boxes of an AVIF (ISO 14496-12): to the sizes of its pictures, the `ispe` properties (ISO 23008-12 section 6.5.3), and
/// to the samples of a sequence of them (`stsz`).
struct AVIFBoxes: Sendable {
    private(set) var size: FrameReader.Finding = .unclear
    private(set) var frames = 1

    /// How much of a box that describes pictures is looked through.
    private static let longest = 32 * 1_024

    /// - Parameter bytes: from the start of a box on.
    mutating func read(_ bytes: ArraySlice<UInt8>) -> FrameReader.Step {
        guard bytes.count >= 8 else { return .more }
        let length = Self.number(bytes, 0)
        let isMovie = bytes.dropFirst(4).prefix(4).elementsEqual("moov".utf8)
        if isMovie || bytes.dropFirst(4).prefix(4).elementsEqual("meta".utf8) {
            // The last box has no size of its own, and the largest ones have it elsewhere.
            let part = length < 8 ? Self.longest : min(length, Self.longest)
            let isAllThere = bytes.count >= part
            if isMovie { readMovie(bytes.prefix(part)) } else { readPictures(bytes.prefix(part), isAllThere: isAllThere) }
            return isAllThere ? (length < 8 ? .done : .pass(length)) : .more
        }
        if length >= 8 { return .pass(length) }
        // Up to the end of the file: the data, and nothing behind it.
        guard length == 1 else { return unreadable() }
        guard bytes.count >= 16 else { return .more }
        let long = Self.number(bytes, 8) << 32 | Self.number(bytes, 12)
        return long >= 16 ? .pass(long) : unreadable()
    }

    private mutating func unreadable() -> FrameReader.Step {
        if size == .unclear { size = .unreadable }
        return .done
    }

    /// Of the whole picture and the tiles that it may be made of, the one with the most pixels.
    private mutating func readPictures(_ bytes: ArraySlice<UInt8>, isAllThere: Bool) {
        var largest: FrameSize?
        Self.each("ispe", in: bytes, room: 16) { rest in
            let size = FrameSize(width: Self.number(rest, 8), height: Self.number(rest, 12))
            if largest?.fault == .tooManyPixels { return }
            if size.fault == .tooManyPixels { largest = size }
            if size.fault == nil, size.width * size.height > largest.map({ $0.width * $0.height }) ?? 0 { largest = size }
        }
        if let largest, largest.fault == .tooManyPixels || isAllThere { return size = .size(largest) }
        if isAllThere { size = .unreadable }
    }

    /// The tracks' frames: how many, and how large where no picture said so.
    private mutating func readMovie(_ bytes: ArraySlice<UInt8>) {
        var samples = 1
        Self.each("stsz", in: bytes, room: 16) { samples = max(samples, Self.number($0, 12)) }
        frames = samples
        guard size == .unclear else { return }
        var found: FrameSize?
        Self.each("av01", in: bytes, room: 32) { found = FrameSize(width: Self.number($0, 28) >> 16, height: Self.number($0, 28) & 0xffff) }
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
