/// Finds a picture's size in its first bytes, as they come, and keeps no more of them than it needs. Pure.
///
/// What does not follow its format up to there is none of its business: such a picture has no size that a decoder could take memory for.
struct FrameReader: Sendable {
    enum Finding: Sendable, Hashable {
        /// The size lies further on.
        case unclear
        case size(FrameSize)
        case unreadable
    }

    private(set) var finding = Finding.unclear
    private let kind: MediaKind
    private var bytes: [UInt8] = []
    /// How many of the next bytes do not matter.
    private var skipping: Int

    init(_ kind: MediaKind) {
        self.kind = kind
        // The start of the image, which is what made it a JPEG.
        skipping = kind == .jpeg ? 2 : 0
    }

    mutating func take(_ more: some Collection<UInt8>) {
        guard finding == .unclear else { return }
        let skipped = min(skipping, more.count)
        skipping -= skipped
        bytes.append(contentsOf: more.dropFirst(skipped))
        switch kind {
        case .png: finding = readPNG()
        case .gif: finding = readGIF()
        case .webp: finding = WebPFrame.read(bytes)
        case .jpeg: finding = readJPEG()
        case .avif: finding = .unreadable
        }
        if finding != .unclear { bytes = [] }
    }

    /// PNG section 11.2.1: the header chunk comes first.
    private func readPNG() -> Finding {
        guard bytes.count >= 24 else { return .unclear }
        guard bytes[8..<16].elementsEqual([0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52]) else { return .unreadable }
        func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 << 8 | Int($1) } }
        return .size(FrameSize(width: number(16..<20), height: number(20..<24)))
    }

    /// GIF89a section 18, the logical screen. An empty one is left to the frames.
    private func readGIF() -> Finding {
        guard bytes.count >= 10 else { return .unclear }
        let (width, height) = (Int(bytes[6]) | Int(bytes[7]) << 8, Int(bytes[8]) | Int(bytes[9]) << 8)
        return width > 0 && height > 0 ? .size(FrameSize(width: width, height: height)) : .unreadable
    }

    private mutating func readJPEG() -> Finding {
        var rest = bytes[...]
        defer { bytes = Array(rest) }
        while true {
            switch JPEGSegment(rest) {
            case .unclear: return .unclear
            case .unreadable: return .unreadable
            case .frame(let size): return .size(size)
            case .other(let length):
                skipping = max(0, length - rest.count)
                rest = rest.dropFirst(length)
            }
        }
    }
}
