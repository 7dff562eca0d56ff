import Foundation

/// The result of performing a slot.
public enum Performance: Sendable {
    /// The cell has no such slot, or its action is of an unknown type. This is no error.
    case nothing
    /// The app opens this URL; the server counts the click and redirects.
    case link(URL)
    /// The server performed the action.
    case answered(Answer)
    /// The server is unavailable. The request is sent later, and `undo` removes it until then.
    case queued(Undo)

    /// The undo of the action, if it can be undone.
    public var undo: Undo? {
        switch self {
        case .nothing, .link: nil
        case .answered(let answer): answer.undo
        case .queued(let undo): undo
        }
    }

    /// The server's response.
    public struct Answer: Sendable {
        public let selection: String?
        /// The presentation for the app: `type`, `screen` and `arguments`.
        public let presentation: JSONValue?
        public let undo: Undo?
        /// The target of a redirect response.
        public let location: URL?
        /// The whole response.
        public let value: JSONValue?
    }

    /// An undo of a performed or queued action.
    public struct Undo: Sendable, Identifiable {
        enum Way: Sendable {
            case request(method: String, href: String)
            /// The request is queued under this key.
            case queued(key: String)
        }

        /// The id of the undo, which is also the idempotency key of its request. For a queued action it is the key of the gesture.
        public let id: String
        /// The time until which the server accepts the undo.
        public let expires: Date?
        let way: Way
        let change: OptimisticChange?
    }
}

/// A change that an app shows before the server has responded, with its reversal in case of a refusal.
public struct OptimisticChange: Sendable {
    let apply: @Sendable () async -> Void
    let takeBack: @Sendable () async -> Void

    public init(apply: @escaping @Sendable () async -> Void, takeBack: @escaping @Sendable () async -> Void) {
        self.apply = apply
        self.takeBack = takeBack
    }

    /// Returns a change that hides the cell in the list at once.
    public static func hiding(_ cell: FeedCell, in list: FeedList) -> OptimisticChange {
        OptimisticChange(apply: { await list.hide(cell.id) }, takeBack: { await list.unhide(cell.id) })
    }
}

/// A reason why an action was not performed.
public enum ActionError: Error, Hashable, Sendable {
    /// The time limit of the undo has passed.
    case undoExpired
    /// The server cannot undo the action.
    case cannotBeUndone
    /// The queue has reached its maximum length.
    case queueIsFull
}
