internal import Synchronization

package protocol ImageTransformer: Sendable {
    var isAvailable: Bool { get }

    func transform(_ image: [UInt8], _ job: TransformJob, urgency: TransformPriority) async throws(ImageError) -> TransformResult

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
