import Foundation

/// What performing a slot came to.
public enum Performance: Sendable {
    /// The cell has no such slot, or its action is of a type that is not known: there is nothing to do, and nothing wrong.
    case nothing
    /// What the app opens: the server counts, and leads on.
    case link(URL)
    /// The server performed it.
    case answered(Answer)
    /// The server is away. It is sent once it is back, and `undo` takes it back until then.
    case queued(Undo)

    /// How it is taken back, where it can be.
    public var undo: Undo? {
        switch self {
        case .nothing, .link: nil
        case .answered(let answer): answer.undo
        case .queued(let undo): undo
        }
    }

    /// The server's answer.
    public struct Answer: Sendable {
        public let selection: String?
        /// What the app is to show: `type`, `screen` and `arguments`.
        public let presentation: JSONValue?
        public let undo: Undo?
        /// Where an answer that is a redirect leads.
        public let location: URL?
        /// All of it.
        public let value: JSONValue?
    }

    /// A way back.
    public struct Undo: Sendable, Identifiable {
        enum Way: Sendable {
            case request(method: String, href: String)
            /// It waits to be sent, under this key.
            case queued(key: String)
        }

        /// Names the gesture that is taken back, and its own sending as well.
        public let id: String
        /// When the server will not do it any more.
        public let expires: Date?
        let way: Way
        let change: OptimisticChange?
    }
}

/// What an app shows at once, before the server has answered, and how that is taken back where it refuses.
public struct OptimisticChange: Sendable {
    let apply: @Sendable () async -> Void
    let takeBack: @Sendable () async -> Void

    public init(apply: @escaping @Sendable () async -> Void, takeBack: @escaping @Sendable () async -> Void) {
        self.apply = apply
        self.takeBack = takeBack
    }

    /// The cell leaves the list at once.
    public static func hiding(_ cell: FeedCell, in list: FeedList) -> OptimisticChange {
        OptimisticChange(apply: { await list.hide(cell.id) }, takeBack: { await list.unhide(cell.id) })
    }
}

/// Why an action was not performed.
public enum ActionError: Error, Hashable, Sendable {
    /// The moment until which it could be taken back is over.
    case undoExpired
    /// The server cannot take it back.
    case cannotBeUndone
    /// So many wait for the server already.
    case queueIsFull
}
