/// The limits of images that follow from the memory of a worker (`images.worker-memory`). Service and worker compute them from the same number.
package struct ImageLimits: Sendable, Hashable {
    /// The way in which libvips holds the original while it makes a smaller image.
    package enum Decoding: Sendable, Hashable {
        /// A baseline JPEG: a few rows, at the smallest sufficient scale.
        case rows
        /// A progressive JPEG: the coefficients of all pixels, 3 to 6 bytes each.
        case coefficients
        /// Any other image: all pixels, with copies in other color spaces.
        case pixels

        /// The bytes of the worker's memory for each pixel. Measured with photographs of 12 to 200 million pixels, and rounded up.
        fileprivate var bytesPerPixel: Int {
            switch self {
            case .rows: 4
            case .coefficients: 8
            case .pixels: 16
            }
        }
    }

    package static let longestSide = 16_384
    /// The maximum number of pixels of all frames of an animation, because of the time that they take: some hundred frames of 1280 × 720.
    package static let mostAnimatedPixels = 480_000_000
    package static let usualMemory = 1 << 30

    /// The address space of a worker in bytes, libraries included.
    package let memory: Int

    package init(memory: Int = usualMemory) {
        self.memory = memory
    }

    /// The maximum number of pixels that are held decoded. It applies to results, too.
    package var mostPixels: Int { memory / Decoding.pixels.bytesPerPixel }

    /// Returns the cost of decoding, in pixels that are held decoded.
    package func cost(ofPixels count: Int, _ decoding: Decoding) -> Int {
        count / (Decoding.pixels.bytesPerPixel / decoding.bytesPerPixel)
    }

    /// Returns true if a worker can decode an image. The product of the sides cannot overflow.
    package func accepts(width: Int, height: Int, _ decoding: Decoding) -> Bool {
        max(width, height) <= Self.longestSide && width * height <= memory / decoding.bytesPerPixel
    }
}
