public import Foundation

/// A queue that performs the actions in the slots of cells.
///
/// Each gesture has an idempotency key, so that the server performs it once, however often it is sent. If the server is unavailable, requests
/// wait in order and are sent later.
///
/// ```swift
/// let actions = Actions(client: client)
/// let invocation = try await actions.perform(.dismissal, of: cell, showing: .hiding(cell, in: list))
/// if let undo = invocation.undo { try await actions.undo(undo) }
/// ```
public actor Actions {
    /// A queued gesture that failed, for example for a message in the app.
    public struct Failure: Sendable, Identifiable {
        /// The idempotency key of the gesture.
        public let id: String
        /// The URL of the request; nil if its link is invalid.
        public let url: URL?
        /// The server's problem; nil if the gesture waited too long or its link is invalid.
        public let problem: FeedProblem?
    }

    private let client: FeedClient
    private let now: @Sendable () -> Date
    private let onFailure: @Sendable (Failure) async -> Void
    private var queue: ActionQueue
    private var changes: [String: OptimisticChange] = [:]
    /// The key of the queued request that is being sent.
    private var active: String?
    private var sending: Task<Bool, Never>?

    /// Creates a queue.
    ///
    /// ```swift
    /// let file = URL.documentsDirectory.appending(path: "actions.json")
    /// let actions = Actions(client: client, file: file, onFailure: { failure in
    ///     print(failure.problem?.title ?? "The action was not sent.")
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - file: The file in which queued requests survive the app's restart; nil to keep them in memory only.
    ///   - onFailure: Called for queued requests that failed, after their optimistic change was reverted.
    public init(
        client: FeedClient, file: URL? = nil, now: @escaping @Sendable () -> Date = { Date() },
        onFailure: @escaping @Sendable (Failure) async -> Void = { _ in }
    ) {
        self.client = client
        self.now = now
        self.onFailure = onFailure
        queue = ActionQueue(file: file)
    }

    /// The number of queued gestures.
    public var pendingCount: Int { queue.entries.count }

    /// Performs a slot of a cell.
    ///
    /// ```swift
    /// let rating: JSONValue = .object(["stars": .number(5)])
    /// let invocation = try await actions.perform(.custom("rate"), of: cell, input: rating)
    /// ```
    ///
    /// - Parameters:
    ///   - input: The input of the slot, as described by its action's `input`.
    ///   - key: The idempotency key of the gesture. Performing it again with an equal key returns an equal response.
    ///   - change: A change that is shown at once and reverted if the server refuses.
    /// - Throws: `FeedClientError.refused`, `FeedClientError.signInRequired`; `ActionError.queueIsFull`.
    public func perform(
        _ slot: CellSlot, of cell: FeedCell, input: JSONValue? = nil, values: [String: String] = [:], key: String = UUID().uuidString,
        showing change: OptimisticChange? = nil
    ) async throws -> Invocation {
        guard let action = cell.actions[slot] else { return .noOperation }
        switch action.kind {
        case .bind, .other:
            return .noOperation
        case .link(let url):
            return .link(try client.url(url.absoluteString))
        case .request(let method, _, let body):
            guard let href = action.href(values) else { return .noOperation }
            await change?.apply()
            let entry = ActionQueue.Entry(
                key: key, method: method, href: href, body: input ?? body, viewer: client.viewer, createdAt: now())
            do {
                // Queued requests are sent first, because a gesture may depend on earlier ones.
                if !queue.entries.isEmpty, await !sendPending() { return try enqueue(entry, change) }
                return .performed(try await send(entry, change))
            } catch let error as FeedClientError where error.isRetryable && !error.needsSignIn {
                do {
                    return try enqueue(entry, change)
                } catch {
                    await change?.revert()
                    throw error
                }
            } catch {
                await change?.revert()
                throw error
            }
        }
    }

    /// Reverts a performed action together with its optimistic change.
    ///
    /// ```swift
    /// if let undo = try await actions.perform(.dismissal, of: cell).undo {
    ///     try await actions.undo(undo)
    /// }
    /// ```
    ///
    /// - Throws: `ActionError.undoExpired`, `ActionError.cannotBeUndone`, `FeedClientError`.
    public func undo(_ undo: Invocation.Undo) async throws {
        switch undo.operation {
        case .queued(let key):
            // A request that is being sent must complete before it can be reverted.
            if active == key { _ = await sending?.value }
            guard queue.remove(key) else { throw ActionError.cannotBeUndone }
            changes[key] = nil
        case .request(let method, let href):
            if let expiresAt = undo.expiresAt, expiresAt <= now() { throw ActionError.undoExpired }
            do {
                _ = try await client.submit(method, href, body: nil, key: undo.id, answer: Self.answer)
            } catch FeedClientError.refused(let problem) where problem.status == 410 {
                throw ActionError.undoExpired
            } catch FeedClientError.refused(let problem) where problem.status == 409 {
                throw ActionError.cannotBeUndone
            }
        }
        await undo.change?.revert()
    }

    /// Sends queued requests in order, as long as the server responds. Call it when the network is available again.
    ///
    /// - Returns: True if no request of the viewer is queued any more.
    @discardableResult
    public func sendPending() async -> Bool {
        if let sending { return await sending.value }
        let task = Task { await self.sendAll() }
        sending = task
        defer { sending = nil }
        return await task.value
    }

    private func sendAll() async -> Bool {
        for entry in queue.removeExpired(now: now()) { await fail(entry, nil) }
        while let entry = queue.entries.first(where: { $0.viewer == client.viewer }) {
            active = entry.key
            defer { active = nil }
            do {
                _ = try await submit(entry)
                _ = queue.remove(entry.key)
                changes[entry.key] = nil
            } catch let error as FeedClientError where error.needsSignIn {
                // Gestures wait until the viewer has signed in.
                return false
            } catch FeedClientError.refused(let problem) {
                _ = queue.remove(entry.key)
                await fail(entry, problem)
            } catch FeedClientError.invalidLink {
                _ = queue.remove(entry.key)
                await fail(entry, nil)
            } catch {
                return false
            }
        }
        return true
    }

    private func fail(_ entry: ActionQueue.Entry, _ problem: FeedProblem?) async {
        await changes.removeValue(forKey: entry.key)?.revert()
        await onFailure(Failure(id: entry.key, url: try? client.url(entry.href), problem: problem))
    }

    private func send(_ entry: ActionQueue.Entry, _ change: OptimisticChange?) async throws -> Invocation.Response {
        Invocation.Response(try await submit(entry), change: change, client: client)
    }

    private func submit(_ entry: ActionQueue.Entry) async throws -> JSONValue? {
        let key = Self.needsKey(entry.method) ? entry.key : nil
        return try await client.submit(entry.method, entry.href, body: entry.body, key: key, answer: Self.answer).value
    }

    /// The array in the server's response to an action and to an undo.
    private static let answer = "commands"

    /// Returns true if requests of a method need an idempotency key. Deletions and replacements are idempotent by themselves.
    static func needsKey(_ method: String) -> Bool { method == "POST" || method == "PATCH" }

    private func enqueue(_ entry: ActionQueue.Entry, _ change: OptimisticChange?) throws -> Invocation {
        try queue.append(entry)
        changes[entry.key] = change
        return .queued(Invocation.Undo(id: entry.key, expiresAt: nil, operation: .queued(key: entry.key), change: change))
    }
}
