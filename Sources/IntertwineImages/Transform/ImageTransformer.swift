internal import Synchronization

/// A transformer resizes images and extracts their metadata.
///
/// Both need decoded pixels, which is why ``ImageWorkers`` does them outside the service process.
/// Cancelling the task ends the work within 50 ms, also if it has begun.
package protocol ImageTransformer: Sendable {
    /// True if the transformer can do work. If false, originals are served unchanged.
    var isAvailable: Bool { get }

    /// Resizes and encodes an image.
    ///
    /// ```swift
    /// let spec = TransformSpec(width: 300, format: .webp)
    /// let small = try await transformer.transform(bytes, spec, urgency: TransformPriority(.visible))
    /// print(small.width, small.height, small.bytes.count)
    /// ```
    ///
    /// - Parameters:
    ///   - image: The complete bytes from the origin.
    ///   - urgency: The priority, which may be raised during the wait. Visible images are first.
    /// - Throws: One of these errors:
    ///   - `undecodable`: The bytes are not a complete image.
    ///   - `noDecoder`: The image may be valid but has no decoder here.
    ///   - `tooManyPixels`: The image is too large to be decoded.
    ///   - `tooManyFrames`: The animation has too many frames, or would take too long to resize as an animation.
    ///   - `overloaded` or `queueTimeout`: Other images are waiting.
    ///   - `workerFailed`: The worker crashed or exceeded its time limit.
    ///   - `cancelled`: The task was cancelled.
    func transform(_ image: [UInt8], _ recipe: TransformSpec, urgency: TransformPriority) async throws(ImageError) -> TransformedImage

    /// Returns the metadata of an image without resizing it. The errors are those of ``transform(_:_:urgency:)``.
    ///
    /// ```swift
    /// let facts = try await transformer.facts(of: bytes, urgency: TransformPriority(.near))
    /// print(facts.width, facts.height, facts.color)
    /// ```
    func facts(of image: [UInt8], urgency: TransformPriority) async throws(ImageError) -> ImageMetadata
}

/// The priority and the origin of a transformation. The priority may rise during the wait, if a more urgent request joins or the image becomes
/// visible.
package final class TransformPriority: Sendable {
    private struct State {
        var priority: ImagePriority
        var listener: (@Sendable () -> Void)?
    }

    /// The authority of the image's URL; nil if it has none.
    package let origin: String?
    private let state: Mutex<State>

    /// Creates a priority.
    ///
    /// - Parameter origin: The authority of the image's URL.
    package init(_ priority: ImagePriority, origin: String? = nil) {
        self.origin = origin
        state = Mutex(State(priority: priority))
    }

    /// The current priority.
    package var priority: ImagePriority { state.withLock { $0.priority } }

    /// Raises the priority to at least this value. Repeating a value moves the image before others with that priority.
    package func raise(to priority: ImagePriority) {
        let listener = state.withLock { state in
            state.priority = max(state.priority, priority)
            return state.listener
        }
        listener?()
    }

    /// Sets the listener, which replaces an existing one.
    ///
    /// ```swift
    /// let priority = TransformPriority(.prefetch, origin: "example.com:443")
    /// priority.listen { print("raised") }
    /// priority.raise(to: .visible)
    /// ```
    ///
    /// - Parameter listener: Called on any thread after each raise.
    package func listen(_ listener: (@Sendable () -> Void)?) {
        state.withLock { $0.listener = listener }
    }
}

/// The specification of a transformation. The result is upright, in sRGB and without metadata.
///
/// ```
/// var spec = TransformSpec(width: 300, height: 300, fit: .fill(.centre), format: .webp)
/// spec.quality = 60
/// ```
package struct TransformSpec: Sendable, Hashable {
    /// The way in which an image fits its box.
    package enum Fit: Sendable, Hashable {
        /// The image covers the box, and the excess is cropped.
        case fill(Focus)
        /// The complete image fits the width and the height of the box.
        case fit
    }

    /// The part of the image that is retained by a crop.
    package enum Focus: Sendable, Hashable {
        /// The center of the image.
        case centre
        /// The most salient part: edges, skin and saturated colors.
        case attention
        /// The area around a point; (0, 0) is top left and (1, 1) is bottom right.
        case point(x: Double, y: Double)
    }

    /// The width and the height of the box in pixels. With one of them the image keeps its aspect ratio, with none its size.
    ///
    /// Images are never enlarged. One that is smaller than its box keeps its pixels, and with `fill` is cropped to the aspect ratio of the box.
    package var width: Int?
    /// The height of the box in pixels; nil to keep the aspect ratio.
    package var height: Int?
    /// The way in which the image fits the box.
    package var fit: Fit
    /// The output format. Transparent pixels become white in a JPEG.
    package var format: ImageFormat
    /// The encoding quality from 1 to 100; nil for the default of the format. PNG and GIF ignore it.
    package var quality: Int?
    /// A Boolean value indicating that an animation stays one, if the format supports it (GIF and WebP). Otherwise its first frame is used.
    package var keepsAnimation: Bool

    /// Creates a specification. By default, the image keeps its size, and an animation becomes its first frame.
    ///
    /// ```swift
    /// let square = TransformSpec(width: 300, height: 300, fit: .fill(.attention), format: .jpeg, quality: 80)
    /// let width = TransformSpec(width: 300, format: .png)
    /// ```
    package init(
        width: Int? = nil, height: Int? = nil, fit: Fit = .fit, format: ImageFormat, quality: Int? = nil, keepsAnimation: Bool = false
    ) {
        self.width = width
        self.height = height
        self.fit = fit
        self.format = format
        self.quality = quality
        self.keepsAnimation = keepsAnimation
    }

    /// Returns a coordinate in thousandths, which is the precision of a point.
    static func thousandths(_ share: Double) -> Int {
        share.isFinite ? Int((min(max(share, 0), 1) * 1_000).rounded()) : 500
    }
}

/// The metadata of a decoded image.
package struct ImageMetadata: Sendable, Hashable {
    /// The width in pixels after the orientation of the camera is applied. `height` is the corresponding height.
    package let width: Int
    /// The height in pixels after the orientation of the camera is applied.
    package let height: Int
    /// The number of frames; 1 for an image that is not animated.
    package let frames: Int
    /// A Boolean value indicating that the image has an alpha channel.
    package let hasAlpha: Bool
    /// The dominant color as `#rrggbb`.
    package let color: String
    /// A blurred placeholder of at most 40 bytes in the ThumbHash format.
    package let thumbHash: [UInt8]

    /// Creates metadata from its values.
    package init(width: Int, height: Int, frames: Int, hasAlpha: Bool, color: String, thumbHash: [UInt8]) {
        self.width = width
        self.height = height
        self.frames = frames
        self.hasAlpha = hasAlpha
        self.color = color
        self.thumbHash = thumbHash
    }
}

/// The result of a transformation.
package struct TransformedImage: Sendable, Hashable {
    /// The encoded image.
    package let bytes: [UInt8]
    /// The format of the bytes.
    package let kind: ImageFormat
    /// The width of one frame in pixels. `height` is the corresponding height.
    package let width: Int
    /// The height of one frame in pixels.
    package let height: Int
    /// The metadata of the original.
    package let original: ImageMetadata

    /// Creates a result from its values.
    package init(bytes: [UInt8], kind: ImageFormat, width: Int, height: Int, original: ImageMetadata) {
        self.bytes = bytes
        self.kind = kind
        self.width = width
        self.height = height
        self.original = original
    }
}
