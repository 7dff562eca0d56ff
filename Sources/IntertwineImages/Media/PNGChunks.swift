/// Goes through the chunks of a PNG (section 5.3) up to its data: its size, and the frames of an animated one (`acTL`, which comes before).
struct PNGChunks: Sendable {
    private(set) var size: FrameReader.Finding = .unclear
    private(set) var frames = 1

    /// - Parameter bytes: from the start of the file, or of a chunk.
    mutating func read(_ bytes: ArraySlice<UInt8>) -> FrameReader.Step {
        func number(_ place: Int) -> Int { bytes.dropFirst(place).prefix(4).reduce(0) { $0 << 8 | Int($1) } }
        func holds(_ text: String, at place: Int) -> Bool { bytes.dropFirst(place).prefix(4).elementsEqual(text.utf8) }
        guard size != .unclear else {
            // Section 11.2.1: the header chunk comes first.
            guard bytes.count >= 24 else { return .more }
            guard number(8) == 13, holds("IHDR", at: 12) else {
                size = .unreadable
                return .done
            }
            size = .size(FrameSize(width: number(16), height: number(20)))
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
