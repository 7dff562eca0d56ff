public import Foundation
public import IntertwineClient

/// The state of a feed on a screen: `FeedView` and `FeedViewController` show it. It can also be the model of an app's own views.
///
/// ```swift
/// let model = FeedModel(client: client)
/// model.onChange = { [unowned model] in show(model.sections) }
/// await model.run()
/// ```
@MainActor public final class FeedModel {
    /// The state of the first page.
    public enum Phase: Sendable, Hashable {
        /// The first page is requested.
        case loading
        /// The feed is shown; it may be empty.
        case loaded
        /// The first page cannot be loaded, or the server refuses to synchronize it.
        case failed(FeedClientError)
    }

    /// A short message about a gesture, with its undo if it can be undone.
    public struct Notice: Sendable, Identifiable {
        /// A number that is different for each notice.
        public let id: Int
        /// The message.
        public let message: String
        /// The undo; nil if the gesture cannot be undone.
        public let undo: Invocation.Undo?
    }

    /// The client that sends the requests.
    public let client: FeedClient
    /// The list of all loaded cells.
    public let list: FeedList
    /// The gestures.
    public let actions: Actions
    /// The images of the cells.
    public let images: ImageLoader
    /// The impressions.
    public let impressions: Impressions
    /// The texts for people.
    public let texts: FeedTexts

    /// Called after each change of the state.
    public var onChange: () -> Void = {}
    /// Opens a link of a cell. The views set it.
    public var onOpen: (URL) -> Void = { _ in }
    /// Shows the presentation in the response to a gesture: its `screen` and `arguments`.
    public var onPresentation: (JSONValue) -> Void = { _ in }
    /// Announces a notice, or the first new cells above the visible ones, to VoiceOver. The views set it.
    public var onAnnouncement: (String) -> Void = { _ in }

    /// The sections to show: all cells of the list except held ones.
    public private(set) var sections = [FeedSection.empty]
    /// The state of the first page.
    public private(set) var phase = Phase.loading
    /// A Boolean value indicating whether all pages are loaded.
    public private(set) var isAtEnd = false
    /// The error of the last request for a further page; nil after a success.
    public private(set) var nextError: FeedClientError?
    /// The current notice; nil after some seconds.
    public private(set) var notice: Notice?

    private let mode: FeedList.SyncMode
    private let sleep: @Sendable (Double) async throws -> Void
    /// The keys of new cells above the visible ones. They are shown on request, because they would move the visible cells.
    private var held: Set<Int> = []
    /// The ids of all cells that were ever in the list. A cell that returns after an undo is not new.
    private var known: Set<String> = []
    private var all = [FeedSection.empty]
    private var visible: [Int: Double] = [:]
    /// The parts whose pictures are not on the screen yet, by the id of their cell.
    private var loading: [String: Set<String>] = [:]
    private var isLoadingNext = false
    private var noticeCount = 0

    /// Creates a model.
    ///
    /// ```swift
    /// let file = URL.documentsDirectory.appending(path: "actions.json")
    /// let model = FeedModel(client: client, url: client.url(feed: "home"), file: file)
    /// ```
    ///
    /// - Parameters:
    ///   - url: The first page, a result of `FeedClient.url(feed:)`; nil for the feed `main`.
    ///   - file: The file in which gestures survive the app's restart while the server is unavailable; nil for memory only.
    ///   - sleep: Waits until a notice disappears. Tests replace it.
    public init(
        client: FeedClient, url: URL? = nil, mode: FeedList.SyncMode = .live, file: URL? = nil, texts: FeedTexts = FeedTexts(),
        images: ImageLoader? = nil, sleep: @escaping @Sendable (Double) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }
    ) {
        self.client = client
        self.mode = mode
        self.texts = texts
        self.sleep = sleep
        list = FeedList(client: client, url: url)
        actions = Actions(client: client, file: file)
        self.images = images ?? ImageLoader(client: client)
        impressions = Impressions(client: client)
    }

    /// The number of new cells above the visible ones, for example for a button "3 new". `showNew` shows them.
    public var newCount: Int { held.isEmpty ? 0 : all.flatMap(\.rows).count { held.contains($0.id) && !$0.cell.isAdvertisement } }

    /// Loads the first page, and follows the list until the task is cancelled or the server refuses. One task runs it.
    public func run() async {
        if case .failed = phase { phase = .loading }
        onChange()
        do {
            if await list.pageCount == 0 { try await list.loadNext() }
            Task { await actions.sendPending() }
            for try await update in list.updates(mode) { await show(update) }
        } catch let error as FeedClientError {
            phase = .failed(error)
            onChange()
        } catch {
            // The task is cancelled.
        }
    }

    /// Appends the next page. Calls during a request have no effect.
    public func loadNext() async {
        guard !isLoadingNext, !isAtEnd else { return }
        isLoadingNext = true
        defer { isLoadingNext = false }
        do {
            try await list.loadNext()
            nextError = nil
        } catch let error as FeedClientError {
            nextError = error
        } catch {
            return
        }
        onChange()
    }

    /// Loads all pages again, and shows held cells.
    public func refresh() async {
        do {
            try await list.reload()
            held = []
            rebuild()
            await actions.sendPending()
        } catch let error as FeedClientError {
            announce(texts.failure(error))
        } catch {
            // The gesture is cancelled.
        }
    }

    /// Shows the new cells above the visible ones.
    ///
    /// ```swift
    /// if model.newCount > 0 { model.showNew() }
    /// ```
    public func showNew() {
        held = []
        rebuild()
    }

    /// Sets the visible cells: their keys, and the visible fraction of each. Reports impressions, and loads the next page near the end.
    public func setVisible(_ shares: [Int: Double]) {
        visible = shares.filter { $0.value > 0 }
        let shown = sections.flatMap(\.rows)
        let positions = shown.indices.filter { visible[shown[$0].id] != nil }
        recordImpressions()
        guard let first = positions.first, let last = positions.last else { return }
        // The list counts hidden cells above the visible ones, too.
        Task { await list.setVisibleRange(first + held.count..<last + held.count + 1) }
        if last + positions.count >= shown.count, nextError == nil { Task { await loadNext() } }
    }

    /// Sets whether the picture of a part is still being loaded: a cell is not seen before its pictures are on the screen.
    ///
    /// `FeedImage` and `FeedViewController.load(_:of:into:)` call it for their pictures. An app with another loader calls it for its own
    /// pictures; otherwise they count as loaded.
    ///
    /// ```swift
    /// model.setLoading("content", of: cell, true)
    /// imageView.image = try await picture(cell.bindings["content"])
    /// model.setLoading("content", of: cell, false)
    /// ```
    public func setLoading(_ part: String, of cell: FeedCell, _ isLoading: Bool) {
        var parts = loading[cell.id] ?? []
        guard isLoading ? parts.insert(part).inserted : parts.remove(part) != nil else { return }
        loading[cell.id] = parts.isEmpty ? nil : parts
        recordImpressions()
    }

    private func recordImpressions() {
        let cells = sections.flatMap(\.rows).compactMap { row in
            visible[row.id].map { Impressions.VisibleCell(row.cell, share: $0, isLoaded: loading[row.cell.id] == nil) }
        }
        Task { await impressions.record(visible: cells) }
    }

    /// Sends the impressions before a link is followed, because a click counts only after them. It waits for at most a second.
    private func flushImpressions() async {
        let flush = Task { await impressions.flush() }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await flush.value }
            group.addTask { try? await Task.sleep(for: .seconds(1)) }
            await group.next()
            group.cancelAll()
        }
    }

    /// Performs a slot of a cell. A dismissed cell disappears at once, and returns if the server refuses.
    ///
    /// ```swift
    /// await model.perform(.dismissal, of: cell)
    /// model.notice?.message  // "Dismissed"
    /// await model.undo()
    /// ```
    public func perform(_ slot: CellSlot, of cell: FeedCell, input: JSONValue? = nil) async {
        do {
            let change: OptimisticChange? = slot == .dismissal ? .hiding(cell, in: list) : nil
            let invocation = try await actions.perform(slot, of: cell, input: input, showing: change)
            switch invocation {
            case .link(let url):
                await flushImpressions()
                onOpen(url)
            case .performed(let response):
                if let url = response.open {
                    await flushImpressions()
                    onOpen(url)
                }
                if let presentation = response.presentation { onPresentation(presentation) }
                if slot == .dismissal { announce(texts.dismissed, undo: response.undo) }
            case .queued(let undo):
                announce(slot == .dismissal ? texts.dismissed : texts.queued, undo: undo)
            case .noOperation:
                break
            }
        } catch {
            announce(texts.failure(error))
        }
    }

    /// Undoes the gesture of the current notice.
    public func undo() async {
        guard let undo = notice?.undo else { return }
        dismissNotice()
        do {
            try await actions.undo(undo)
        } catch {
            // The server still accepts the undo after a temporary failure.
            let isRetryable = (error as? FeedClientError)?.isRetryable == true
            announce(texts.failure(error), undo: isRetryable ? undo : nil)
        }
    }

    /// Removes the current notice.
    public func dismissNotice() {
        notice = nil
        onChange()
    }

    private func show(_ update: FeedUpdate) async {
        all = update.sections
        isAtEnd = await list.isAtEnd
        let rows = all.flatMap(\.rows)
        let ids = Set(rows.map(\.cell.id))
        let hadNew = newCount > 0
        held.formIntersection(rows.map(\.id))
        loading = loading.filter { ids.contains($0.key) }
        let wasAtTop = visible.isEmpty || sections.flatMap(\.keys).first.map { visible[$0] != nil } ?? true
        // Ads alone do not wait for the button, which only counts other cells.
        if wasAtTop, newCount == 0 { held = [] }
        if !wasAtTop || !held.isEmpty, let first = rows.firstIndex(where: { visible[$0.id] != nil }) {
            held.formUnion(rows[..<first].filter { !known.contains($0.cell.id) }.map(\.id))
        }
        known.formUnion(ids)
        phase = .loaded
        rebuild()
        if !hadNew, newCount > 0 { onAnnouncement(texts.new(newCount)) }
    }

    private func rebuild() {
        sections = all.compactMap { section in
            guard section.keys.contains(where: held.contains) else { return section }
            return section.filtered { !held.contains($0) }
        }
        if sections.isEmpty { sections = [.empty] }
        onChange()
    }

    private func announce(_ message: String, undo: Invocation.Undo? = nil) {
        noticeCount += 1
        let notice = Notice(id: noticeCount, message: message, undo: undo)
        self.notice = notice
        onChange()
        onAnnouncement(message)
        let seconds = min(6, max(1, undo?.expiresAt?.timeIntervalSinceNow ?? 6))
        Task { [weak self, sleep] in
            guard (try? await sleep(seconds)) != nil, self?.notice?.id == notice.id else { return }
            self?.dismissNotice()
        }
    }
}

/// The texts of the views, in English. An app replaces them with translations.
///
/// ```swift
/// var texts = FeedTexts()
/// texts.undo = String(localized: "Undo")
/// texts.new = { count in String(localized: "\(count) new") }
/// let model = FeedModel(client: client, texts: texts)
/// ```
public struct FeedTexts: Sendable {
    /// The message after a dismissal.
    public var dismissed = "Dismissed"
    /// The message after a gesture that waits for the server.
    public var queued = "Offline. It will be sent later."
    /// The title of the undo button.
    public var undo = "Undo"
    /// The title of the button that loads again after an error.
    public var retry = "Try again"
    /// The message of an empty feed.
    public var empty = "Nothing here yet"
    /// The disclosure of an ad, if the server sends none.
    public var advertisement = "Advertisement"
    /// The accessibility label of a cell without a view.
    public var placeholder = "Content that this version cannot show"
    /// The title of the dismissal of a cell.
    public var dismiss = "Dismiss"
    /// Returns the title of the button for new cells.
    public var new: @Sendable (_ count: Int) -> String = { "\($0) new" }
    /// Returns the message of an error.
    public var failure: @Sendable (any Error) -> String = { error in
        switch error {
        case let error as FeedClientError where error.needsSignIn: "Sign in to continue."
        case FeedClientError.refused(let problem): problem.detail ?? problem.title
        case FeedClientError.unreachable, FeedClientError.unavailable: "The server is not available."
        case ActionError.undoExpired, ActionError.cannotBeUndone: "It can no longer be undone."
        default: "Something went wrong."
        }
    }

    /// Creates the English texts.
    public init() {}

    /// Returns the disclosure of an ad, with its advertiser if the server names one; nil for other cells.
    public func disclosure(of cell: FeedCell) -> String? {
        guard cell.isAdvertisement else { return nil }
        return [cell.disclosure?.label ?? advertisement, cell.disclosure?.advertiser].compactMap { $0 }.joined(separator: " · ")
    }

    /// Returns the titles of the slots that a menu of the cell offers: the dismissal, and each with a label of the server.
    public func menu(of cell: FeedCell) -> [(slot: CellSlot, title: String)] {
        cell.actions.sorted { $0.key.rawValue < $1.key.rawValue }.compactMap { slot, action in
            guard case .request = action.kind, action.input == nil else { return nil }
            return (action.label ?? (slot == .dismissal ? dismiss : nil)).map { (slot, $0) }
        }
    }
}
