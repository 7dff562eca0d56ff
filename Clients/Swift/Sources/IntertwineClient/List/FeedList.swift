import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// An ordered, sectioned list of a feed's cells, kept in step with the server.
///
///     let list = FeedList(client: client, href: FeedClient.href())
///     try await list.loadNext()
///     for await update in list.updates { … }      // in one task
///     await list.follow()                         // in another
public actor FeedList {
    /// How a list is kept in step.
    public enum Following: Sendable {
        /// Asks now and then.
        case polling
        /// Listens, where the server speaks; asks now and then where it does not.
        case live
    }

    /// What changes are asked for with stands in the request's line, of 8 KiB; what does not fit goes into a body.
    static let lineRoom = 6500
    private static let bodyRoom = 100_000

    public nonisolated let client: FeedClient
    private let href: String
    private var pages: HeldPages
    /// Counts what happened to the pages. What was asked before and answered after is not about this list any more.
    private var edition = 0
    private var revision = 0
    private var seen = 0..<1
    /// Whether the server takes questions about changes in a body, as far as is known.
    private var takesBodies = true
    private var loading: Task<Bool, any Error>?
    private var reloading: Task<Void, any Error>?
    private var listening: Task<Bool, any Error>?
    private var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    private var waiterCount = 0

    /// - Parameter href: of the first page, best of `FeedClient.href(feed:)`: pages without `changes=true` can only be reloaded.
    public init(client: FeedClient, href: String = FeedClient.href()) {
        self.client = client
        self.href = href
        pages = HeldPages(first: href)
    }

    /// What changed, again and again, for a collection view. Any number of them can be taken.
    public nonisolated var updates: FeedUpdates { FeedUpdates(list: self) }

    /// What is shown: all cells of the pages held but those that are hidden.
    public var sections: [FeedSection] { FeedSection.sections(of: pages.entries.lazy.filter { !$0.isHidden }) }

    /// How many pages are held.
    public var pageCount: Int { pages.pages.count }

    /// Whether there is no further page.
    public var isAtEnd: Bool { pages.next == nil }

    /// Appends the next page; one request at a time, whoever asks. False at the end of the feed.
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

    /// Takes as many pages anew as are held, one at least. Cells that are there again stay, and are reconfigured where they differ.
    public func reload() async throws {
        if let reloading { return try await reloading.value }
        let task = Task { try await self.takeAnew() }
        reloading = task
        defer { reloading = nil }
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Asks what became of the pages around what is seen, and applies it.
    public func refresh() async throws {
        guard loading == nil, reloading == nil, !pages.pages.isEmpty else { return }
        let room = takesBodies ? Self.bodyRoom : Self.lineRoom
        guard let window = pages.window(around: seenEntries, room: room) else { return try await reload() }
        let asked = edition
        let answer: (value: JSONValue, isFresh: Bool)
        do {
            answer = try await ask(about: window)
        } catch FeedClientError.refused(let problem) where takesBodies && [404, 405, 501].contains(problem.status) {
            takesBodies = false
            return try await refresh()
        }
        guard asked == edition, answer.isFresh else { return }
        guard let changes = FeedChanges(answer.value) else { throw FeedClientError.unreadable(reason: "no changes") }
        try await take(changes, about: window)
    }

    private func ask(about window: HeldPages.Window) async throws -> (value: JSONValue, isFresh: Bool) {
        if window.since.joined().utf8.count <= Self.lineRoom {
            let answer = try await client.get(changesHref(window))
            return (answer.value, answer.isFresh)
        }
        let body: JSONValue = .object(["since": .array(window.since.map(JSONValue.text))])
        return (try await client.read(by: body, at: changesPath), true)
    }

    /// Keeps the list in step until its task is cancelled. Failures of server and way are waited out.
    ///
    /// - Parameter pause: seconds between questions.
    public func follow(_ following: Following = .live, every pause: Double = 10) async {
        var isLive = following == .live
        while !Task.isCancelled {
            if isLive, let window = pages.window(around: seenEntries, room: Self.lineRoom) {
                do {
                    isLive = try await listenUntilChanged(window)
                    if isLive { continue }
                } catch {
                    // Too many listen, or the way is broken: it is asked this time.
                }
            }
            do {
                try await refresh()
            } catch FeedClientError.refused(let problem) where problem.status == 401 || problem.status == 403 || problem.status == 404 {
                return
            } catch {
                // It is asked again behind the pause.
            }
            guard (try? await client.retry.sleep(pause)) != nil else { return }
        }
    }

    /// Says which cells are in sight, counted through all sections without their headers: of longer lists, the server is asked about those.
    public func see(_ cells: Range<Int>) {
        seen = cells
    }

    /// Takes a cell out of what is shown, until the server does or `unhide` brings it back to its place.
    public func hide(_ id: String) {
        pages.turn(id, isHidden: true)
        tell()
    }

    public func unhide(_ id: String) {
        pages.turn(id, isHidden: false)
        tell()
    }

    // MARK: Pages

    private func load() async throws -> Bool {
        try await reloading?.value
        guard let next = pages.next else { return false }
        let asked = edition
        let page = try await client.page(next)
        try Task.checkCancellation()
        guard asked == edition else { return pages.next != nil }
        pages.append(page)
        changed()
        listening?.cancel()
        return true
    }

    private func takeAnew() async throws {
        var fresh: [FeedPage] = []
        var next: String? = href
        while let wanted = next, fresh.count < max(1, pages.pages.count) {
            let page = try await client.page(wanted)
            fresh.append(page)
            next = page.next
        }
        pages.replace(with: fresh, next: next)
        changed()
        listening?.cancel()
    }

    private func take(_ changes: FeedChanges, about window: HeldPages.Window) async throws {
        if pages.apply(changes, to: window) == .reload {
            try await reload()
        } else {
            changed()
        }
    }

    /// The entries that are seen, headers and hidden ones counted.
    private var seenEntries: Range<Int> {
        var shown = 0
        var first: Int?
        for (index, entry) in pages.entries.enumerated() where !entry.isHidden && !entry.cell.isSectionHeader {
            if shown == seen.lowerBound { first = index }
            shown += 1
            if shown >= seen.upperBound { return (first ?? index)..<(index + 1) }
        }
        return (first ?? max(0, pages.entries.count - 1))..<max(1, pages.entries.count)
    }

    /// Where changes are asked for: by the client that the pages were asked for by, where the URL names one.
    private var changesPath: String {
        let parts = href.split(separator: "?", maxSplits: 1)
        let client = parts.dropFirst().first?.split(separator: "&").first { $0.hasPrefix("client=") }
        return (parts.first ?? "") + "/changes" + (client.map { "?" + $0 } ?? "")
    }

    private func changesHref(_ window: HeldPages.Window) -> String {
        let path = changesPath
        return path + (path.contains("?") ? "&" : "?") + "since=\(window.since.joined(separator: ","))"
    }

    // MARK: Live

    /// Listens until somebody else has changed the pages: the server has to be told of other ones then.
    private func listenUntilChanged(_ window: HeldPages.Window) async throws -> Bool {
        let task = Task { try await self.listen(window) }
        listening = task
        defer { listening = nil }
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

    /// Listens for as long as the server speaks and the pages are those. False where it does not speak in events.
    private func listen(_ window: HeldPages.Window) async throws -> Bool {
        var request = try client.request("GET", changesHref(window))
        request.setValue("text/event-stream, application/json;q=0.5", forHTTPHeaderField: "Accept")
        let answer = try await client.transport.stream(request)
        if answer.status >= 500 {
            throw FeedClientError.unavailable(Problem(title: "nobody speaks", status: answer.status), retryAfter: nil)
        }
        guard answer.status == 200, answer.fields["content-type"]?.hasPrefix("text/event-stream") == true else { return false }
        var stream = EventStream()
        var window = window
        for try await chunk in answer.chunks {
            for event in try stream.receive(chunk) {
                try Task.checkCancellation()
                guard let value = try? JSONValue(parsing: Data(event.data.utf8)), let changes = FeedChanges(value) else { continue }
                try await take(changes, about: window)
                guard !changes.isReload, let next = pages.window(around: seenEntries, room: Self.lineRoom), next.pages == window.pages
                else {
                    return true
                }
                window = next
            }
        }
        try Task.checkCancellation()
        // It closed, as a server does that stops: whoever listened comes back at another moment each.
        try await client.retry.sleep(stream.retry ?? client.retry.first * 2 * client.retry.draw())
        return true
    }

    // MARK: Telling

    private func changed() {
        edition += 1
        tell()
    }

    private func tell() {
        revision += 1
        let waiting = waiters
        waiters = [:]
        for waiter in waiting.values { waiter.resume() }
    }

    /// What is shown, once something happened after a revision; nil where the task is cancelled.
    func state(after known: Int) async -> (sections: [FeedSection], revision: Int)? {
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
