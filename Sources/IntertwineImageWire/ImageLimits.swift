/// The limits of images that follow from the memory of a worker (`images.worker-memory`).
package struct ImageLimits: Sendable, Hashable {
    /// The way in which libvips holds the original while it makes a smaller image.
    package enum Decoding: Sendable, Hashable {
        case rows
        case coefficients
        case pixels

        /// Measured with photographs of 12 to 200 million pixels, and rounded up.
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

    package var mostPixels: Int { memory / Decoding.pixels.bytesPerPixel }

    /// Returns the cost of decoding, in pixels that are held decoded.
    package func cost(ofPixels count: Int, _ decoding: Decoding) -> Int {
        count / (Decoding.pixels.bytesPerPixel / decoding.bytesPerPixel)
    }

    /// The product of the sides cannot overflow.
    package func accepts(width: Int, height: Int, _ decoding: Decoding) -> Bool {
        max(width, height) <= Self.longestSide && width * height <= memory / decoding.bytesPerPixel
    }
}
