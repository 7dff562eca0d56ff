public import Foundation

/// The result of performing a slot.
///
/// ```swift
/// switch try await actions.perform(.selection, of: cell) {
/// case .link(let url): await open(url)
/// case .performed(let response): if let url = response.open { await open(url) }
/// case .queued, .noOperation: break
/// }
/// ```
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
    ///
    /// ```swift
    /// button.isHidden = invocation.undo == nil
    /// ```
    public var undo: Undo? {
        switch self {
        case .noOperation, .link: nil
        case .performed(let response): response.undo
        case .queued(let undo): undo
        }
    }

    /// The server's response.
    public struct Response: Sendable {
        /// The id of the invocation; nil if no command was performed.
        public let id: String?
        /// The slot that was performed.
        public let slot: CellSlot?
        /// The outcomes of the commands, in order.
        public let commands: [CommandOutcome]
        /// The presentation for the app: `type`, `screen` and `arguments`.
        public let presentation: JSONValue?
        /// The link that the app opens, if the action leads elsewhere.
        public let open: URL?
        /// The undo; nil if the action cannot be undone.
        public let undo: Undo?
        /// The complete response, with members that this package does not know.
        public let value: JSONValue?

        /// Decodes a response. Members of an unexpected type are nil, or omitted from `commands`.
        init(_ value: JSONValue?, change: OptimisticChange? = nil, client: FeedClient) {
            self.value = value
            id = value?["invocation"]?["id"]?.text
            slot = value?["slot"]?.text.map(CellSlot.init)
            commands = value?["commands"]?.array?.compactMap(CommandOutcome.init) ?? []
            presentation = value?["presentation"].flatMap { $0["screen"]?.text == nil ? nil : $0 }
            open = value?["open"]?["href"]?.text.flatMap { try? client.url($0) }
            undo = value?["undo"].flatMap { CellAction($0) }.flatMap { action -> Undo? in
                guard case .request(let method, let href, _) = action.kind else { return nil }
                return Undo(
                    id: UUID().uuidString, expiresAt: action.expiresAt, operation: .request(method: method, href: href), change: change)
            }
        }
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
        public let expiresAt: Date?
        let operation: Operation
        let change: OptimisticChange?
    }
}

/// The outcome of a command of an invocation.
public struct CommandOutcome: Hashable, Sendable {
    /// The name of the command, such as `dismiss`.
    public let command: String
    /// The outcome: `performed`, `failed`, `skipped`, or another word.
    public let outcome: String?
    /// All members, including those that this package does not know.
    public let members: [String: JSONValue]

    /// Decodes an outcome, an object with a `command`; nil for any other value.
    init?(_ value: JSONValue) {
        guard let members = value.object, let command = members["command"]?.text else { return nil }
        self.command = command
        self.members = members
        outcome = members["outcome"]?.text
    }
}

/// A change that an app shows before the server has responded, with its reversal in case of a refusal.
///
/// ```swift
/// let undo = try await actions.perform(.dismissal, of: cell, showing: .hiding(cell, in: list)).undo
/// ```
public struct OptimisticChange: Sendable {
    let apply: @Sendable () async -> Void
    let revert: @Sendable () async -> Void

    /// Creates a change.
    ///
    /// ```swift
    /// let change = OptimisticChange(
    ///     apply: { @MainActor in button.isSelected = true },
    ///     revert: { @MainActor in button.isSelected = false })
    /// _ = try await actions.perform(.custom("like"), of: cell, showing: change)
    /// ```
    ///
    /// - Parameters:
    ///   - apply: Shows the change. It is called before the request is sent.
    ///   - revert: Reverts the change. It is called if the server refuses, and after an undo.
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
