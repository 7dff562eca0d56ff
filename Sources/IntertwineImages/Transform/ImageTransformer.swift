internal import Synchronization

/// A transformer resizes images and extracts their metadata.
///
/// Both need decoded pixels, which is why ``ImageWorkers`` does them outside the service process.
/// Cancelling the task ends the work within 50 ms, also if it has begun.
public protocol ImageTransformer: Sendable {
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
public final class TransformPriority: Sendable {
    private struct State {
        var priority: ImagePriority
        var listener: (@Sendable () -> Void)?
    }

    /// The authority of the image's URL; nil if it has none.
    public let origin: String?
    private let state: Mutex<State>

    /// Creates a priority.
    ///
    /// - Parameter origin: The authority of the image's URL.
    public init(_ priority: ImagePriority, origin: String? = nil) {
        self.origin = origin
        state = Mutex(State(priority: priority))
    }

    /// The current priority.
    public var priority: ImagePriority { state.withLock { $0.priority } }

    /// Raises the priority to at least this value. Repeating a value moves the image before others with that priority.
    public func raise(to priority: ImagePriority) {
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
    public func listen(_ listener: (@Sendable () -> Void)?) {
        state.withLock { $0.listener = listener }
    }
}

/// The specification of a transformation. The result is upright, in sRGB and without metadata.
///
/// ```
/// var spec = TransformSpec(width: 300, height: 300, fit: .fill(.centre), format: .webp)
/// spec.quality = 60
/// ```
public struct TransformSpec: Sendable, Hashable {
    /// The way in which an image fits its box.
    public enum Fit: Sendable, Hashable {
        /// The image covers the box, and the excess is cropped.
        case fill(Focus)
        /// The complete image fits the width and the height of the box.
        case fit
    }

    /// The part of the image that is retained by a crop.
    public enum Focus: Sendable, Hashable {
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
    public var width: Int?
    /// The height of the box in pixels; nil to keep the aspect ratio.
    public var height: Int?
    /// The way in which the image fits the box.
    public var fit: Fit
    /// The output format. Transparent pixels become white in a JPEG.
    public var format: ImageFormat
    /// The encoding quality from 1 to 100; nil for the default of the format. PNG and GIF ignore it.
    public var quality: Int?
    /// A Boolean value indicating that an animation stays one, if the format supports it (GIF and WebP). Otherwise its first frame is used.
    public var keepsAnimation: Bool

    /// Creates a specification. By default, the image keeps its size, and an animation becomes its first frame.
    ///
    /// ```swift
    /// let square = TransformSpec(width: 300, height: 300, fit: .fill(.attention), format: .jpeg, quality: 80)
    /// let width = TransformSpec(width: 300, format: .png)
    /// ```
    public init(
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
public struct ImageMetadata: Sendable, Hashable {
    /// The width in pixels after the orientation of the camera is applied. `height` is the corresponding height.
    public let width: Int
    /// The height in pixels after the orientation of the camera is applied.
    public let height: Int
    /// The number of frames; 1 for an image that is not animated.
    public let frames: Int
    /// A Boolean value indicating that the image has an alpha channel.
    public let hasAlpha: Bool
    /// The dominant color as `#rrggbb`.
    public let color: String
    /// A blurred placeholder of at most 40 bytes in the ThumbHash format.
    public let thumbHash: [UInt8]

    /// Creates metadata from its values.
    public init(width: Int, height: Int, frames: Int, hasAlpha: Bool, color: String, thumbHash: [UInt8]) {
        self.width = width
        self.height = height
        self.frames = frames
        self.hasAlpha = hasAlpha
        self.color = color
        self.thumbHash = thumbHash
    }
}

/// The result of a transformation.
public struct TransformedImage: Sendable, Hashable {
    /// The encoded image.
    public let bytes: [UInt8]
    /// The format of the bytes.
    public let kind: ImageFormat
    /// The width of one frame in pixels. `height` is the corresponding height.
    public let width: Int
    /// The height of one frame in pixels.
    public let height: Int
    /// The metadata of the original.
    public let original: ImageMetadata

    /// Creates a result from its values.
    public init(bytes: [UInt8], kind: ImageFormat, width: Int, height: Int, original: ImageMetadata) {
        self.bytes = bytes
        self.kind = kind
        self.width = width
        self.height = height
        self.original = original
    }
}
