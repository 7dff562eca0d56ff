/// Finds in a picture's bytes, as they come, how large it is and how many frames it has, and keeps no more of them than it needs. Pure.
///
/// What does not follow its format up to there is none of its business, as long as decoders give it up too.
package struct ImageHeaderParser: Sendable {
    package enum Finding: Sendable, Hashable {
        /// The size lies further on.
        case unclear
        case size(ImageDimensions)
        case unreadable
    }

    package private(set) var finding = Finding.unclear
    /// Of an animation, as far as is known; it may still have more.
    package private(set) var frames = 1
    private let kind: ImageFormat
    private var bytes: [UInt8] = []
    /// How many of the next bytes do not matter.
    private var skipping: Int
    /// Nothing further on changes anything.
    private var isDone = false
    private var gif = GIFBlocks()
    private var webp = WebPChunks()
    private var png = PNGChunks()
    private var avif = AVIFBoxes()

    package init(_ kind: ImageFormat) {
        self.kind = kind
        // The start of the image, which is what made it a JPEG.
        skipping = kind == .jpeg ? 2 : 0
    }

    /// Why the picture is not passed on, as far as is known.
    var error: ImageError.Reason? {
        if case .size(let size) = finding { size.error(frames: frames) } else { nil }
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

    /// What a part of a format says of the place that it stands at.
    enum Step: Sendable, Hashable {
        case more
        case done
        /// So many bytes are of no interest, at least one.
        case pass(Int)
    }

    private mutating func step(_ rest: ArraySlice<UInt8>) -> Step {
        let step: Step
        switch kind {
        case .jpeg:
            switch JPEGSegment(rest) {
            case .unclear: return .more
            case .unreadable: (finding, step) = (.unreadable, .done)
            case .frame(let size): (finding, step) = (.size(size), .done)
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

/// How large a picture is once it is decoded.
package struct ImageDimensions: Sendable, Hashable {
    /// 24 million: about 100 MB in a client's memory. A progressive JPEG needs its coefficients beside that.
    private static let mostPixels = 24_000_000
    private static let mostProgressivePixels = 12_000_000
    private static let longestSide = 12_000
    /// Of all the frames of an animation together: a few hundred of them at 1280 × 720, where a few bytes could ask for millions.
    private static let mostAnimatedPixels = 480_000_000
    /// Decoders read the header of each frame before the first pixel, and libwebp takes time by the square of their number.
    private static let mostFrames = 2_000

    let width: Int
    let height: Int
    var isProgressive = false

    /// Why such a picture is not passed on: a few bytes that become gigabytes when they are drawn, or nothing at all.
    var error: ImageError.Reason? {
        guard width > 0, height > 0 else { return .typeMismatch }
        // The sides come first: their product is then far from overflowing.
        guard max(width, height) <= Self.longestSide else { return .tooManyPixels }
        let most = isProgressive ? Self.mostProgressivePixels : Self.mostPixels
        return width * height <= most ? nil : .tooManyPixels
    }

    /// The same for an animation of so many frames.
    func error(frames: Int) -> ImageError.Reason? {
        if let error { return error }
        guard frames <= max(1, Self.mostAnimatedPixels / (width * height)) else { return .tooManyPixels }
        return frames <= Self.mostFrames ? nil : .tooManyFrames
    }
}
