/// Finds a picture's size in its first bytes, as they come, and keeps no more of them than it needs. Pure.
///
/// What does not follow its format up to there is none of its business, as long as decoders give it up too.
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
    private var gif = GIFBlocks()

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
        case .gif:
            var blocks = gif
            finding = pass { blocks.read($0) }
            gif = blocks
        case .webp: finding = WebPFrame.read(bytes)
        case .jpeg: finding = pass { JPEGSegment($0).step }
        case .avif: finding = pass(AVIFBoxes.read)
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

    /// What a part of a format says of the place that it stands at.
    enum Step: Sendable, Hashable {
        case found(Finding)
        /// So many bytes are of no interest, at least one.
        case pass(Int)
    }

    /// Goes from part to part, and keeps none that is passed.
    private mutating func pass(_ read: (ArraySlice<UInt8>) -> Step) -> Finding {
        var rest = bytes[...]
        defer { bytes = Array(rest) }
        while true {
            switch read(rest) {
            case .found(let finding): return finding
            case .pass(let length):
                skipping = max(0, length - rest.count)
                rest = rest.dropFirst(length)
            }
        }
    }
}

extension JPEGSegment {
    fileprivate var step: FrameReader.Step {
        switch self {
        case .unclear: .found(.unclear)
        case .unreadable: .found(.unreadable)
        case .frame(let size): .found(.size(size))
        case .other(let length): .pass(length)
        }
    }
}
