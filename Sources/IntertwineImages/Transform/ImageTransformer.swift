internal import Synchronization

package protocol ImageTransformer: Sendable {
    var isAvailable: Bool { get }

    func transform(_ image: [UInt8], _ recipe: TransformSpec, urgency: TransformPriority) async throws(ImageError) -> TransformedImage

    func facts(of image: [UInt8], urgency: TransformPriority) async throws(ImageError) -> ImageMetadata
}

package final class TransformPriority: Sendable {
    private struct State {
        var priority: ImagePriority
        var listener: (@Sendable () -> Void)?
    }

    package let origin: String?
    private let state: Mutex<State>

    package init(_ priority: ImagePriority, origin: String? = nil) {
        self.origin = origin
        state = Mutex(State(priority: priority))
    }

    package var priority: ImagePriority { state.withLock { $0.priority } }

    package func raise(to priority: ImagePriority) {
        let listener = state.withLock { state in
            state.priority = max(state.priority, priority)
            return state.listener
        }
        listener?()
    }

    package func listen(_ listener: (@Sendable () -> Void)?) {
        state.withLock { $0.listener = listener }
    }
}

package struct TransformSpec: Sendable, Hashable {
    package enum Fit: Sendable, Hashable {
        case fill(Focus)
        case fit
    }

    package enum Focus: Sendable, Hashable {
        case centre
        case attention
        case point(x: Double, y: Double)
    }

    /// The width and the height of the box in pixels.
    /// Images are never enlarged.
    package var width: Int?
    /// The height of the box in pixels; nil to keep the aspect ratio.
    package var height: Int?
    package var fit: Fit
    package var format: ImageFormat
    package var quality: Int?
    package var keepsAnimation: Bool

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

    static func thousandths(_ share: Double) -> Int {
        share.isFinite ? Int((min(max(share, 0), 1) * 1_000).rounded()) : 500
    }
}

package struct ImageMetadata: Sendable, Hashable {
    /// The width in pixels after the orientation of the camera is applied.
    package let width: Int
    /// The height in pixels after the orientation of the camera is applied.
    package let height: Int
    package let frames: Int
    package let hasAlpha: Bool
    package let color: String
    package let thumbHash: [UInt8]

    package init(width: Int, height: Int, frames: Int, hasAlpha: Bool, color: String, thumbHash: [UInt8]) {
        self.width = width
        self.height = height
        self.frames = frames
        self.hasAlpha = hasAlpha
        self.color = color
        self.thumbHash = thumbHash
    }
}

package struct TransformedImage: Sendable, Hashable {
    package let bytes: [UInt8]
    package let kind: ImageFormat
    /// The width of one frame in pixels.
    package let width: Int
    /// The height of one frame in pixels.
    package let height: Int
    package let original: ImageMetadata

    package init(bytes: [UInt8], kind: ImageFormat, width: Int, height: Int, original: ImageMetadata) {
        self.bytes = bytes
        self.kind = kind
        self.width = width
        self.height = height
        self.original = original
    }
}
