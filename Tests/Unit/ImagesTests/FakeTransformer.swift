import Synchronization
import TestSupport

@testable import IntertwineImages

/// Makes of every image the text of its recipe.
final class FakeTransformer: ImageTransformer {
    let isAvailable: Bool
    /// Recipes as they come, and `left` for each that was called off.
    let events = EventLog<String>()
    /// What it was told of while it had the work.
    let raises = EventLog<ImagePriority>()
    private let state: Mutex<(isHeld: Bool, failure: ImageError?)>
    private let makesAnimations: Bool

    init(isAvailable: Bool = true, isHeld: Bool = false, makesAnimations: Bool = true) {
        self.isAvailable = isAvailable
        self.makesAnimations = makesAnimations
        state = Mutex((isHeld, nil))
    }

    var failure: ImageError? {
        get { state.withLock { $0.failure } }
        set { state.withLock { $0.failure = newValue } }
    }

    /// What it made images of.
    var originals: [[UInt8]] { made.withLock { $0 } }
    private let made = Mutex<[[UInt8]]>([])

    var recipes: [String] { events.events.filter { $0 != "left" } }

    func release() { state.withLock { $0.isHeld = false } }

    func transform(
        _ image: [UInt8], _ recipe: TransformSpec, urgency: TransformPriority
    ) async throws(ImageError) -> TransformedImage {
        if let failure { throw failure }
        if recipe.keepsAnimation, !makesAnimations { throw ImageError(.tooManyFrames) }
        made.withLock { $0.append(image) }
        urgency.listen { [raises] in raises.append(urgency.priority) }
        events.append(recipe.text)
        while state.withLock({ $0.isHeld }) {
            guard !Task.isCancelled else {
                events.append("left")
                throw ImageError(.cancelled)
            }
            await Task.yield()
        }
        return TransformedImage(
            bytes: Array(recipe.text.utf8), kind: recipe.format, width: recipe.width ?? 1, height: recipe.height ?? 1,
            original: try await facts(of: image, urgency: urgency))
    }

    func facts(of image: [UInt8], urgency: TransformPriority) async throws(ImageError) -> ImageMetadata {
        ImageMetadata(width: 1_600, height: 1_200, frames: 1, hasAlpha: false, color: "#a1b2c3", thumbHash: [1, 2, 3])
    }
}
