package struct ImageHeaderParser: Sendable {
    package enum Finding: Sendable, Hashable {
        case unclear
        case size(ImageDimensions)
        case unreadable
    }

    package private(set) var finding = Finding.unclear
    package private(set) var frames = 1
    private(set) var decoding: ImageLimits.Decoding
    private let kind: ImageFormat
    private let limits: ImageLimits
    private var bytes: [UInt8] = []
    private var skipping: Int
    private var isDone = false
    private var gif = GIFBlocks()
    private var webp = WebPChunks()
    private var png = PNGChunks()
    private var avif = AVIFBoxes()

    package init(_ kind: ImageFormat, limits: ImageLimits = ImageLimits()) {
        self.kind = kind
        self.limits = limits
        decoding = kind == .jpeg ? .coefficients : .pixels
        // The start marker, which identified the JPEG.
        skipping = kind == .jpeg ? 2 : 0
    }

    /// The reason to reject the dimensions, such as a decompression bomb or an empty image; nil if they are acceptable.
    var error: ImageError.Reason? {
        if case .size(let size) = finding { size.error(frames: frames, decoding, limits) } else { nil }
    }

    package mutating func consume(_ more: some Collection<UInt8>) {
        guard !isDone else { return }
        let skipped = min(skipping, more.count)
        skipping -= skipped
        guard skipped < more.count else { return }
        bytes.append(contentsOf: more.dropFirst(skipped))
        var rest = bytes[...]
        while !isDone, case .pass(let length) = step(rest) {
            skipping = max(0, length - rest.count)
            rest = rest.dropFirst(length)
        }
        bytes = isDone ? [] : Array(rest)
    }

    enum Step: Sendable, Hashable {
        case more
        case done
        case pass(Int)
    }

    private mutating func step(_ rest: ArraySlice<UInt8>) -> Step {
        let step: Step
        switch kind {
        case .jpeg:
            switch JPEGSegment(rest) {
            case .unclear: return .more
            case .unreadable: (finding, step) = (.unreadable, .done)
            case .frame(let size, let isBaseline):
                decoding = isBaseline ? .rows : .coefficients
                (finding, step) = (.size(size), .done)
            case .other(let length): return .pass(length)
            }
        case .png:
            step = png.read(rest)
            (finding, frames) = (png.size, png.frames)
        case .gif:
            switch gif.read(rest) {
            case .pass(let length): step = .pass(length)
            case .more: step = .more
            case .end, .nonsense: step = .done
            }
            (finding, frames) = (gif.size, max(1, gif.frames))
        case .webp:
            step = webp.read(rest)
            (finding, frames) = (webp.size, max(1, webp.frames))
        case .avif:
            step = avif.read(rest)
            (finding, frames) = (avif.size, avif.frames)
        }
        if step == .done || finding == .unreadable || error != nil { isDone = true }
        return step
    }
}

package struct ImageDimensions: Sendable, Hashable {
    private static let mostFrames = 2_000

    let width: Int
    let height: Int

    var isTooLong: Bool { max(width, height) > ImageLimits.longestSide }

    func error(frames: Int = 1, _ decoding: ImageLimits.Decoding = .pixels, _ limits: ImageLimits = ImageLimits()) -> ImageError.Reason? {
        guard width > 0, height > 0 else { return .typeMismatch }
        guard limits.accepts(width: width, height: height, decoding) else { return .tooManyPixels }
        guard frames > 1 else { return nil }
        guard frames <= ImageLimits.mostAnimatedPixels / (width * height) else { return .tooManyPixels }
        return frames <= Self.mostFrames ? nil : .tooManyFrames
    }
}
