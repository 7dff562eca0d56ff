import Foundation

/// The result of performing a slot.
public enum Invocation: Sendable {
    /// The cell has no such slot, or its action is of an unknown type. This is no error.
    case noOperation
    /// The app opens this URL; the server counts the click and redirects.
    case link(URL)
    /// The server performed the action.
    case performed(Response)
    /// The server is unavailable. The request is sent later, and `undo` removes it until then.
    case queued(Undo)

    /// The undo of the action, if it can be undone.
    public var undo: Undo? {
        switch self {
        case .noOperation, .link: nil
        case .performed(let response): response.undo
        case .queued(let undo): undo
        }
    }

    /// The server's response.
    public struct Response: Sendable {
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
        enum Operation: Sendable {
            case request(method: String, href: String)
            /// The request is queued under this key.
            case queued(key: String)
        }

        /// The id of the undo, which is also the idempotency key of its request. For a queued action it is the key of the gesture.
        public let id: String
        /// The time until which the server accepts the undo.
        public let expires: Date?
        let operation: Operation
        let change: OptimisticChange?
    }
}

/// A change that an app shows before the server has responded, with its reversal in case of a refusal.
public struct OptimisticChange: Sendable {
    let apply: @Sendable () async -> Void
    let revert: @Sendable () async -> Void

    public init(apply: @escaping @Sendable () async -> Void, revert: @escaping @Sendable () async -> Void) {
        self.apply = apply
        self.revert = revert
    }

    /// Returns a change that hides the cell in the list at once.
    public static func hiding(_ cell: FeedCell, in list: FeedList) -> OptimisticChange {
        OptimisticChange(apply: { await list.hide(cell.id) }, revert: { await list.unhide(cell.id) })
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
