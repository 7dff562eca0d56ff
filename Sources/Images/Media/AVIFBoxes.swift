/// Goes through the boxes of an AVIF (ISO 14496-12) to the sizes of its pictures, the `ispe` properties (ISO 23008-12 section 6.5.3).
enum AVIFBoxes {
    /// How much of the box that describes the pictures is looked through.
    private static let longest = 32 * 1_024

    /// - Parameter bytes: from the start of a box on.
    static func read(_ bytes: ArraySlice<UInt8>) -> FrameReader.Step {
        guard bytes.count >= 8 else { return .found(.unclear) }
        let size = number(bytes, 0)
        let isDescription = bytes.dropFirst(4).prefix(4).elementsEqual("meta".utf8)
        if isDescription {
            // The last box has no size of its own, and the largest ones have it elsewhere.
            let length = size < 8 ? longest : min(size, longest)
            let found = largest(bytes.prefix(length))
            if let found, found.fault == .tooManyPixels || bytes.count >= length { return .found(.size(found)) }
            return .found(bytes.count >= length ? .unreadable : .unclear)
        }
        if size >= 8 { return .pass(size) }
        guard size == 1 else { return .found(.unreadable) }
        guard bytes.count >= 16 else { return .found(.unclear) }
        let long = number(bytes, 8) << 32 | number(bytes, 12)
        return long >= 16 ? .pass(long) : .found(.unreadable)
    }

    /// Of the whole picture and the tiles that it may be made of, the one with the most pixels.
    private static func largest(_ bytes: ArraySlice<UInt8>) -> FrameSize? {
        var largest: FrameSize?
        var rest = bytes
        while let place = rest.firstIndex(of: UInt8(ascii: "i")) {
            rest = rest[place...]
            if rest.starts(with: "ispe".utf8), rest.count >= 16 {
                let size = FrameSize(width: number(rest, 8), height: number(rest, 12))
                if size.fault == .tooManyPixels { return size }
                if size.fault == nil, size.width * size.height > largest.map({ $0.width * $0.height }) ?? 0 { largest = size }
            }
            rest = rest.dropFirst()
        }
        return largest
    }

    private static func number(_ bytes: ArraySlice<UInt8>, _ place: Int) -> Int {
        bytes.dropFirst(place).prefix(4).reduce(0) { $0 << 8 | Int($1) }
    }
}
