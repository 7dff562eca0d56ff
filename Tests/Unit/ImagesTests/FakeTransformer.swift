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
        _ image: [UInt8], _ recipe: TransformJob, urgency: TransformPriority
    ) async throws(ImageError) -> TransformResult {
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
        return TransformResult(
            width: max(1, recipe.width), height: max(1, recipe.height), originalWidth: 1_600, originalHeight: 1_200, frames: 1,
            hasAlpha: false,
            color: TransformResult.Color(red: 0xa1, green: 0xb2, blue: 0xc3), thumbHash: [1, 2, 3], bytes: Array(recipe.text.utf8))
    }

    func facts(of image: [UInt8], urgency: TransformPriority) async throws(ImageError) -> ImageMetadata {
        ImageMetadata(width: 1_600, height: 1_200, frames: 1, hasAlpha: false, color: "#a1b2c3", thumbHash: [1, 2, 3])
    }
}
