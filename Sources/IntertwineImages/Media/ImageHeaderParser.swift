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
    private let kind: ImageFormat
    private var bytes: [UInt8] = []
    /// The number of following bytes to skip.
    private var skipping: Int
    /// A Boolean value indicating that later bytes cannot change the result.
    private var isDone = false
    private var gif = GIFBlocks()
    private var webp = WebPChunks()
    private var png = PNGChunks()
    private var avif = AVIFBoxes()

    package init(_ kind: ImageFormat) {
        self.kind = kind
        // The start marker, which identified the JPEG.
        skipping = kind == .jpeg ? 2 : 0
    }

    /// The reason to reject the image, as far as is known; nil if none was found.
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

/// The dimensions of a decoded image.
package struct ImageDimensions: Sendable, Hashable {
    /// The maximum number of pixels, from the memory of a worker: 1 GiB holds 64 million in any format, with the coefficients of a progressive JPEG at 6
    /// bytes for each. Today's cameras have up to 61 million.
    private static let mostPixels = 64_000_000
    private static let longestSide = 16_384
    /// The maximum number of pixels of all frames of an animation: some hundred frames of 1280 × 720. Why:
    /// few bytes could declare millions of frames.
    private static let mostAnimatedPixels = 480_000_000
    /// The maximum number of frames. Decoders read the header of each frame before the first pixel, and the time of libwebp grows with the square.
    private static let mostFrames = 2_000

    let width: Int
    let height: Int

    /// The reason to reject the dimensions, such as a decompression bomb or an empty image; nil if they are acceptable.
    var error: ImageError.Reason? {
        guard width > 0, height > 0 else { return .typeMismatch }
        // The sides are checked first, so that their product cannot overflow.
        guard max(width, height) <= Self.longestSide else { return .tooManyPixels }
        return width * height <= Self.mostPixels ? nil : .tooManyPixels
    }

    /// Returns the reason to reject an animation with this number of frames.
    func error(frames: Int) -> ImageError.Reason? {
        if let error { return error }
        guard frames <= max(1, Self.mostAnimatedPixels / (width * height)) else { return .tooManyPixels }
        return frames <= Self.mostFrames ? nil : .tooManyFrames
    }
}
