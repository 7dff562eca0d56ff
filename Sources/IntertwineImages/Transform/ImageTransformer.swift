internal import Synchronization

/// Makes pictures of the size that they are shown at, and says what a picture looks like.
///
/// Both need it decoded, which is why they are done elsewhere than in the service's own process (``ImageWorkers``).
/// Cancelling the task ends the work, within 50 ms even where it has begun.
public protocol ImageTransformer: Sendable {
    /// Whether there is anything that does the work. Where not, originals are served as they are.
    var isAvailable: Bool { get }

    /// - Parameters:
    ///   - picture: a whole one, as its origin sent it.
    ///   - urgency: what somebody looks at goes first, also where it turns out later that somebody does.
    /// - Throws: `undecodable` where the bytes are not a whole picture, `noDecoder` if they may be one of a kind that is not decoded here,
    ///   `tooManyPixels` where it is too large to be decoded, `tooManyFrames` where an animation has too many, or would stay one and could not
    ///   be made in time,
    ///   `overloaded` and `queueTimeout` where others wait already, `workerFailed` where the work died or took too long, `cancelled`.
    func transform(_ picture: [UInt8], _ recipe: TransformSpec, urgency: TransformPriority) async throws(ImageError) -> TransformedImage

    /// What it looks like, and nothing made of it. Fails like ``transform(_:_:urgency:)``.
    func facts(of picture: [UInt8], urgency: TransformPriority) async throws(ImageError) -> ImageMetadata
}

extension ImageTransformer {
    /// The same for what stays as urgent as it is.
    public func transform(
        _ picture: [UInt8], _ recipe: TransformSpec, priority: ImagePriority
    ) async throws(ImageError) -> TransformedImage {
        try await transform(picture, recipe, urgency: TransformPriority(priority))
    }

    public func facts(of picture: [UInt8], priority: ImagePriority) async throws(ImageError) -> ImageMetadata {
        try await facts(of: picture, urgency: TransformPriority(priority))
    }
}

/// The origin that an image comes from, and the viewers that wait for it. Neither may use more than its share of the workers.
public struct TransformOwners: Sendable, Hashable {
    /// Viewers counted for one image.
    private static let mostViewers = 8

    public let origin: String?
    /// Empty if the service itself wants the image, or more viewers wait for it than are counted.
    public private(set) var viewers: Set<String> = []
    private var countsViewers = true

    /// The one that waits for it alone.
    var soleViewer: String? { viewers.count == 1 ? viewers.first : nil }

    public init(origin: String? = nil) {
        self.origin = origin
    }

    /// Adds a viewer that waits for the image; nil for the service itself.
    public mutating func add(_ viewer: String?) {
        guard countsViewers else { return }
        if let viewer { viewers.insert(viewer) }
        guard viewer == nil || viewers.count > Self.mostViewers else { return }
        (viewers, countsViewers) = ([], false)
    }
}

/// How soon a picture is wanted, and for whom. Both may change while it is waited for: somebody more urgent joins, or it comes into view.
public final class TransformPriority: Sendable {
    private struct State {
        var priority: ImagePriority
        var owners: TransformOwners
        var listener: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    /// - Parameter origin: the authority that the picture comes from.
    public init(_ priority: ImagePriority, origin: String? = nil) {
        state = Mutex(State(priority: priority, owners: TransformOwners(origin: origin)))
    }

    public var priority: ImagePriority { state.withLock { $0.priority } }
    public var owners: TransformOwners { state.withLock { $0.owners } }

    /// Adds a viewer that waits for the picture; nil for the service itself. Whoever listens learns of it with the next raise.
    public func add(viewer: String?) { state.withLock { $0.owners.add(viewer) } }

    /// At least that from now on. Whoever says the same again wants it before others of its kind.
    public func raise(to priority: ImagePriority) {
        let listener = state.withLock { state in
            state.priority = max(state.priority, priority)
            return state.listener
        }
        listener?()
    }

    /// - Parameter listener: called after each time that it is raised, from any thread. There is one at a time.
    public func listen(_ listener: (@Sendable () -> Void)?) {
        state.withLock { $0.listener = listener }
    }
}

/// What to make of a picture. In any case it comes out upright, in sRGB and without metadata.
public struct TransformSpec: Sendable, Hashable {
    /// How it gets into its box.
    public enum Fit: Sendable, Hashable {
        /// All of the box is covered, and what hangs over is cut off.
        case fill(Focus)
        /// All of the picture is seen, in the box's width or height.
        case fit
    }

    /// What is kept where something is cut off.
    public enum Focus: Sendable, Hashable {
        case centre
        /// Where there is most to be seen: edges, skin, strong colours.
        case attention
        /// As much as possible on all sides of a point; 0 is left and top, 1 right and bottom.
        case point(x: Double, y: Double)
    }

    /// Of the box, in pixels. With one of them the picture keeps its proportions, with none its size.
    ///
    /// Nothing is enlarged: a picture that is smaller than its box keeps its pixels, and with `fill` has them cut to the box's proportions.
    public var width: Int?
    public var height: Int?
    public var fit: Fit
    /// What to encode it to. Transparent pixels become white in a JPEG.
    public var format: ImageFormat
    /// From 1 to 100; nil for what suits the format. Says nothing for PNG and GIF.
    public var quality: Int?
    /// Whether an animation stays one, in a format that has animations (GIF and WebP); otherwise its first frame is the picture.
    public var keepsAnimation: Bool

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

    /// Names it: two recipes with the same text make the same of a picture. Of letters, digits, `-`, `.` and `x`.
    public var text: String {
        let box = "\(width.map(String.init) ?? "")x\(height.map(String.init) ?? "")"
        let placed =
            switch fit {
            case .fit: "fit"
            case .fill(.centre): "fill"
            case .fill(.attention): "fill-attention"
            case .fill(.point(let x, let y)): "fill-\(Self.thousandths(x))-\(Self.thousandths(y))"
            }
        let encoded = "\(format)" + (quality.map { "-q\($0)" } ?? "")
        return "\(box).\(placed).\(encoded)" + (keepsAnimation ? ".animated" : "")
    }

    /// As finely as a point is told from another one.
    static func thousandths(_ share: Double) -> Int {
        share.isFinite ? Int((min(max(share, 0), 1) * 1_000).rounded()) : 500
    }
}

/// What is known of a picture that has been decoded.
public struct ImageMetadata: Sendable, Hashable {
    /// As it is seen: upright, where the camera was not.
    public let width: Int
    public let height: Int
    public let frames: Int
    /// Whether it has a channel for transparency.
    public let hasAlpha: Bool
    /// The one that most of it has, as `#rrggbb`.
    public let color: String
    /// A blurred likeness in at most 40 bytes, as ThumbHash writes it.
    public let thumbHash: [UInt8]

    public init(width: Int, height: Int, frames: Int, hasAlpha: Bool, color: String, thumbHash: [UInt8]) {
        self.width = width
        self.height = height
        self.frames = frames
        self.hasAlpha = hasAlpha
        self.color = color
        self.thumbHash = thumbHash
    }
}

/// What came of a recipe.
public struct TransformedImage: Sendable, Hashable {
    public let bytes: [UInt8]
    public let kind: ImageFormat
    /// In pixels, of one frame.
    public let width: Int
    public let height: Int
    /// What it was made of looks like.
    public let original: ImageMetadata

    public init(bytes: [UInt8], kind: ImageFormat, width: Int, height: Int, original: ImageMetadata) {
        self.bytes = bytes
        self.kind = kind
        self.width = width
        self.height = height
        self.original = original
    }
}
