package import IntertwineImageWire

/// An incremental parser of the dimensions and the number of frames of an image. It buffers only the bytes that it needs, and is pure.
///
/// Violations of the format before the dimensions are ignored if decoders reject them, too.
package struct ImageHeaderParser: Sendable {
    package enum Finding: Sendable, Hashable {
        /// The dimensions follow in later bytes.
        case unclear
        case size(ImageDimensions)
        case unreadable
    }

    package private(set) var finding = Finding.unclear
    /// The number of frames so far; an animation may have more.
    package private(set) var frames = 1
    /// The way in which a worker holds the image while it decodes it.
    private(set) var decoding: ImageLimits.Decoding
    private let kind: ImageFormat
    private let limits: ImageLimits
    private var bytes: [UInt8] = []
    /// The number of following bytes to skip.
    private var skipping: Int
    /// A Boolean value indicating that later bytes cannot change the result.
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

    /// The reason to reject the image, as far as is known; nil if none was found.
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

    /// The step of a parser at its current position.
    enum Step: Sendable, Hashable {
        case more
        case done
        /// The number of bytes to skip, at least one.
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

/// The dimensions of a decoded image.
package struct ImageDimensions: Sendable, Hashable {
    /// The maximum number of frames. Decoders read the header of each frame before the first pixel, and the time of libwebp grows with the square.
    private static let mostFrames = 2_000

    let width: Int
    let height: Int

    var isTooLong: Bool { max(width, height) > ImageLimits.longestSide }

    /// Returns the reason to reject the image, such as a decompression bomb or an empty image; nil if it is acceptable.
    func error(frames: Int = 1, _ decoding: ImageLimits.Decoding = .pixels, _ limits: ImageLimits = ImageLimits()) -> ImageError.Reason? {
        guard width > 0, height > 0 else { return .typeMismatch }
        guard limits.accepts(width: width, height: height, decoding) else { return .tooManyPixels }
        guard frames > 1 else { return nil }
        guard frames <= ImageLimits.mostAnimatedPixels / (width * height) else { return .tooManyPixels }
        return frames <= Self.mostFrames ? nil : .tooManyFrames
    }
}
