public import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An ordered, sectioned list of a feed's cells that is synchronized with the server.
///
/// ```swift
/// let list = FeedList(client: client)
/// for try await update in list.updates() { show(update.sections) }
/// ```
///
/// `loadNext` appends a page, for example at the end of a scroll view.
public actor FeedList {
    /// The method of synchronization.
    public enum SyncMode: Sendable {
        /// Requests changes periodically.
        case polling
        /// Subscribes to server-sent events, and polls if the server does not support them.
        case live
        /// Requests nothing: the app calls `loadNext` and `refresh`. Also for a second consumer of a list.
        case manual
    }

    /// The maximum length of sync tokens in the request line, which is limited to 8 KiB. Longer tokens are sent in a body.
    static let maxLineLength = 6500
    private static let maxBodyLength = 100_000

    /// The client that sends the requests.
    public nonisolated let client: FeedClient
    private let url: URL
    private var state: FeedListState
    /// A counter of changes to the pages. A response to a request of an earlier version is discarded.
    private var pagesVersion = 0
    private var revision = 0
    private var visible = 0..<1
    /// True unless the server is known to reject requests for changes with a body.
    private var acceptsBody = true
    private var loading: Task<Bool, any Error>?
    private var reloading: Task<Void, any Error>?
    private var streaming: Task<Bool, any Error>?
    private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private var waiterCount = 0

    /// Creates a list without pages.
    ///
    /// - Parameter url: The first page, a result of `FeedClient.url(feed:)`; nil for the feed `main`. Pages without `changes=true` can only
    ///   be reloaded.
    public init(client: FeedClient, url: URL? = nil) {
        self.client = client
        self.url = url ?? client.url()
        state = FeedListState(first: self.url)
    }

    /// Returns the sequence of updates, for a collection view. While it is iterated, the list is synchronized with the server.
    ///
    /// ```swift
    /// for try await update in list.updates(.polling, every: 30) {
    ///     show(update.sections)
    /// }
    /// ```
    ///
    /// - Parameter interval: The seconds between two requests, if the list is polled.
    public nonisolated func updates(_ mode: SyncMode = .live, every interval: Double = 10) -> FeedUpdates {
        FeedUpdates(list: self, mode: mode, interval: interval)
    }

    /// The shown sections: all cells of the loaded pages except hidden ones. An empty list has one section without cells.
    public var sections: [FeedSection] { FeedSection.sections(of: state.entries.lazy.filter { !$0.isHidden }) }

    /// The number of loaded pages.
    public var pageCount: Int { state.pages.count }

    /// A Boolean value indicating whether the last page is loaded.
    public var isAtEnd: Bool { state.next == nil }

    /// Appends the next page. Concurrent calls share one request. Returns false at the end of the feed.
    ///
    /// ```swift
    /// if await !list.isAtEnd { try await list.loadNext() }
    /// ```
    @discardableResult
    public func loadNext() async throws -> Bool {
        if let loading { return try await loading.value }
        let task = Task { try await self.load() }
        loading = task
        defer { loading = nil }
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Loads as many pages again as are loaded, at least one. Cells that are still in the feed stay, and are reconfigured if they differ.
    public func reload() async throws {
        if let reloading { return try await reloading.value }
        let task = Task { try await self.reloadPages() }
        reloading = task
        defer { reloading = nil }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Requests the changes of the pages around the visible cells, and applies them.
    public func refresh() async throws {
        guard loading == nil, reloading == nil, !state.pages.isEmpty else { return }
        let maxLength = acceptsBody ? Self.maxBodyLength : Self.maxLineLength
        guard let window = state.window(around: visibleEntries, maxLength: maxLength) else { return try await reload() }
        let version = pagesVersion
        let response: (value: JSONValue, isFresh: Bool)
        do {
            response = try await requestChanges(for: window)
        } catch FeedClientError.refused(let problem) where acceptsBody && [404, 405, 501].contains(problem.status) {
            acceptsBody = false
            return try await refresh()
        }
        guard version == pagesVersion, response.isFresh else { return }
        guard let changes = FeedChanges(response.value, base: client.base) else {
            throw FeedClientError.invalidResponse(reason: "no changes")
        }
        try await apply(changes, to: window)
    }

    private func requestChanges(for window: FeedListState.Window) async throws -> (value: JSONValue, isFresh: Bool) {
        if window.syncTokens.joined().utf8.count <= Self.maxLineLength {
            let response = try await client.get(changesHref(window))
            return (response.value, response.isFresh)
        }
        let body: JSONValue = .object(["syncTokens": .array(window.syncTokens.map(JSONValue.text))])
        return (try await client.query(body, at: changesPath), true)
    }

    /// Loads the first page, and synchronizes the list until its task is cancelled. After failures of the server or the network it retries.
    ///
    /// - Throws: The refusal of the server.
    func synchronize(_ mode: SyncMode, every interval: Double) async throws {
        while state.pages.isEmpty {
            do {
                try await loadNext()
                // An empty feed has a page, too; without one, its first page was requested by another task.
                break
            } catch let error as FeedClientError where error.isRetryable {
                guard (try? await client.retry.sleep(interval)) != nil else { return }
            } catch is CancellationError where !Task.isCancelled {
                // The task that requested the page was cancelled.
                await Task.yield()
            } catch is CancellationError {
                return
            }
        }
        var isLive = mode == .live
        while !Task.isCancelled {
            if isLive, let window = state.window(around: visibleEntries, maxLength: Self.maxLineLength) {
                do {
                    isLive = try await streamUntilChanged(window)
                    if isLive { continue }
                } catch {
                    // Too many subscribers or a broken connection: poll this time.
                }
            }
            do {
                try await refresh()
            } catch let error as FeedClientError where error.isFinal {
                throw error
            } catch {
                // The request is repeated after the pause.
            }
            guard (try? await client.retry.sleep(interval)) != nil else { return }
        }
    }

    /// Sets the range of visible cells, counted through all sections without headers. In long lists, changes are requested around it.
    ///
    /// ```swift
    /// let indices = collectionView.indexPathsForVisibleItems.map(\.item)
    /// if let first = indices.min(), let last = indices.max() { await list.setVisibleRange(first..<last + 1) }
    /// ```
    public func setVisibleRange(_ cells: Range<Int>) {
        visible = cells
    }

    /// Hides a cell until the server removes it or `unhide` shows it again at its position.
    ///
    /// ```swift
    /// await list.hide("user:ann")
    /// await list.unhide("user:ann")  // The cell is at its position again.
    /// ```
    public func hide(_ id: String) {
        state.setHidden(id, isHidden: true)
        notifyObservers()
    }

    /// Shows a hidden cell again, at its position.
    public func unhide(_ id: String) {
        state.setHidden(id, isHidden: false)
        notifyObservers()
    }

    // MARK: Pages

    private func load() async throws -> Bool {
        try await reloading?.value
        guard let next = state.next else { return false }
        let version = pagesVersion
        let page = try await client.page(next)
        try Task.checkCancellation()
        guard version == pagesVersion else { return state.next != nil }
        state.append(page)
        changed()
        streaming?.cancel()
        return true
    }

    private func reloadPages() async throws {
        var fresh: [FeedPage] = []
        var next: URL? = url
        while let wanted = next, fresh.count < max(1, state.pages.count) {
            let page = try await client.page(wanted)
            fresh.append(page)
            next = page.next
        }
        state.replace(with: fresh, next: next)
        changed()
        streaming?.cancel()
    }

    private func apply(_ changes: FeedChanges, to window: FeedListState.Window) async throws {
        if state.apply(changes, to: window) == .reload {
            try await reload()
        } else {
            changed()
        }
    }

    /// The visible range as entries, including headers and hidden cells.
    private var visibleEntries: Range<Int> {
        var shown = 0
        var first: Int?
        for (index, entry) in state.entries.enumerated() where !entry.isHidden && !entry.cell.isSectionHeader {
            if shown == visible.lowerBound { first = index }
            shown += 1
            if shown >= visible.upperBound { return (first ?? index)..<(index + 1) }
        }
        return (first ?? max(0, state.entries.count - 1))..<max(1, state.entries.count)
    }

    /// The path for requesting changes, with the `client` parameter of the page's URL if present.
    private var changesPath: String {
        let parts = url.absoluteString.split(separator: "?", maxSplits: 1)
        let client = parts.dropFirst().first?.split(separator: "&").first { $0.hasPrefix("client=") }
        return (parts.first ?? "") + "/changes" + (client.map { "?" + $0 } ?? "")
    }

    private func changesHref(_ window: FeedListState.Window) -> String {
        let path = changesPath
        return path + (path.contains("?") ? "&" : "?") + "syncToken=\(window.syncTokens.joined(separator: ","))"
    }

    // MARK: Server-sent events

    /// Subscribes until another operation changes the pages, because the server must then observe other state.
    private func streamUntilChanged(_ window: FeedListState.Window) async throws -> Bool {
        let task = Task { try await self.stream(window) }
        streaming = task
        defer { streaming = nil }
        do {
            return try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch is CancellationError where !Task.isCancelled {
            return true
        }
    }

    /// Receives events as long as the connection is open and the pages stay. Returns false if the server does not send events.
    private func stream(_ window: FeedListState.Window) async throws -> Bool {
        var request = try client.request("GET", changesHref(window))
        request.setValue("text/event-stream, application/json;q=0.5", forHTTPHeaderField: "Accept")
        let response = try await client.open(request)
        if let error = FeedClientError.signIn(response.status, response.fields) { throw error }
        if response.status >= 500 {
            throw FeedClientError.unavailable(
                FeedProblem(title: "The event stream is unavailable.", status: response.status), retryAfter: nil)
        }
        guard response.status == 200, response.fields["content-type"]?.hasPrefix("text/event-stream") == true else { return false }
        var stream = EventStreamParser()
        var window = window
        for try await chunk in response.chunks {
            for event in try stream.receive(chunk) {
                try Task.checkCancellation()
                guard let value = try? JSONValue(parsing: Data(event.data.utf8)), let changes = FeedChanges(value, base: client.base) else {
                    continue
                }
                try await apply(changes, to: window)
                guard !changes.isReload, let next = state.window(around: visibleEntries, maxLength: Self.maxLineLength),
                    next.pages == window.pages
                else {
                    return true
                }
                window = next
            }
        }
        try Task.checkCancellation()
        // The server closed the connection, for example at shutdown. The random pause distributes the reconnections of all clients.
        try await client.retry.sleep(stream.retry ?? client.retry.initialDelay * 2 * client.retry.jitter())
        return true
    }

    // MARK: Notification of observers

    private func changed() {
        pagesVersion += 1
        notifyObservers()
    }

    func notifyObservers() {
        revision += 1
        let waiting = waiters
        waiters = [:]
        for waiter in waiting.values { waiter.resume() }
    }

    /// Returns the shown sections after the revision has changed; nil if the task is cancelled.
    func snapshot(after known: Int) async -> (sections: [FeedSection], revision: Int)? {
        while revision <= known || Task.isCancelled {
            if Task.isCancelled { return nil }
            waiterCount += 1
            let number = waiterCount
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    if Task.isCancelled { continuation.resume() } else { waiters[number] = continuation }
                }
            } onCancel: {
                Task { await self.wake(number) }
            }
        }
        return (sections, revision)
    }

    private func wake(_ number: Int) {
        waiters.removeValue(forKey: number)?.resume()
    }
}
