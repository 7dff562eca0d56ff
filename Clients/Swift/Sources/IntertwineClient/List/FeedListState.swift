import Foundation

/// The state of the pages of a list, with the cells and the application of changes. It does no I/O.
struct FeedListState: Sendable {
    struct Page: Sendable {
        var count: Int
        /// The token for requesting changes of the page.
        var syncToken: String?
        /// The next page.
        var next: URL?
    }
    /// The range of a request for changes.
    struct Window: Sendable, Equatable {
        /// The indices of the pages.
        let pages: Range<Int>
        /// The indices of the pages' entries.
        let entries: Range<Int>
        let syncTokens: [String]
    }
    enum Outcome: Equatable {
        case applied
        /// The response does not match this list, or requests a reload.
        case reload
    }

    /// The maximum number of pages in one request for changes.
    static let maxPages = 16

    private(set) var entries: [ListEntry] = []
    private(set) var pages: [Page] = []
    /// The page after all pages; nil at the end of the feed.
    private(set) var next: URL?
    private var keys = 0

    init(first url: URL) {
        next = url
    }

    mutating func append(_ page: FeedPage) {
        entries += page.cells.map { entry($0) }
        pages.append(Page(count: page.cells.count, syncToken: page.syncToken, next: page.next))
        next = page.next
    }

    /// Applies the server's changes to a window of pages. If indices are invalid, it returns `reload` and changes nothing.
    mutating func apply(_ changes: FeedChanges, to window: Window) -> Outcome {
        guard !changes.isReload, !window.pages.isEmpty else { return .reload }
        guard window.pages.upperBound <= pages.count, pages[window.pages].map(\.syncToken) == window.syncTokens else {
            // The changes arrived both by a live event and by a request; the first response has been applied.
            let start = window.pages.lowerBound
            let end = start + changes.pages.count
            guard start < end, end <= pages.count else { return .reload }
            return pages[start..<end].map(\.syncToken) == changes.pages.map(\.syncToken) ? .applied : .reload
        }
        guard window.entries.upperBound <= entries.count else { return .reload }
        var cells = Array(entries[window.entries])
        let removals = changes.removed.map { ($0.index, $0.id) } + changes.moved.map { ($0.from, $0.id) }
        let removedIndices = Set(removals.map(\.0))
        guard removedIndices.count == removals.count, removals.allSatisfy({ cells.indices.contains($0.0) && cells[$0.0].cell.id == $0.1 })
        else {
            return .reload
        }
        let moving = changes.moved.map { (to: $0.to, entry: cells[$0.from]) }
        cells = cells.indices.filter { !removedIndices.contains($0) }.map { cells[$0] }
        let insertions = moving + changes.inserted.map { (to: $0.index, entry: entry($0.cell)) }
        for (to, entry) in insertions.sorted(by: { $0.to < $1.to }) {
            guard to <= cells.count else { return .reload }
            cells.insert(entry, at: to)
        }
        for placed in changes.reconfigured {
            guard cells.indices.contains(placed.index), cells[placed.index].cell.id == placed.cell.id else { return .reload }
            cells[placed.index].cell = placed.cell
        }
        guard changes.pages.reduce(0, { $0 + $1.count }) == cells.count else { return .reload }

        // If the last page has another end now, the following pages are no longer consecutive.
        let follows = pages[window.pages.upperBound - 1].next == changes.next
        var fresh = changes.pages.map { Page(count: $0.count, syncToken: $0.syncToken, next: nil) }
        if !fresh.isEmpty { fresh[fresh.count - 1].next = changes.next }
        entries.replaceSubrange(follows ? window.entries : window.entries.lowerBound..<entries.count, with: cells)
        pages.replaceSubrange(follows ? window.pages : window.pages.lowerBound..<pages.count, with: fresh)
        if !follows || pages.isEmpty { next = changes.next }
        return .applied
    }

    /// Replaces all pages. Cells that are still in the list keep their keys.
    mutating func replace(with fresh: [FeedPage], next: URL?) {
        var known = Dictionary(grouping: entries, by: \.cell.id)
        for id in known.keys { known[id]?.reverse() }
        entries = fresh.flatMap(\.cells).map { cell in
            guard let old = known[cell.id]?.popLast() else { return entry(cell) }
            return ListEntry(key: old.key, cell: cell)
        }
        pages = fresh.map { Page(count: $0.cells.count, syncToken: $0.syncToken, next: $0.next) }
        self.next = next
    }

    /// Hides or shows a cell, and the other cells of its item if it is the first one: companions, and repetitions of an ad.
    mutating func setHidden(_ id: String, isHidden: Bool) {
        for index in entries.indices where entries[index].cell.id == id || entries[index].cell.primary == id {
            entries[index].isHidden = isHidden
        }
    }

    /// Returns as many pages around the visible entries as fit into `maxLength` characters; nil if changes cannot be requested.
    func window(around visible: Range<Int>, maxLength: Int) -> Window? {
        var ends: [Int] = []
        for page in pages { ends.append((ends.last ?? 0) + page.count) }
        guard let last = ends.indices.last else { return nil }
        let first = ends.firstIndex { visible.lowerBound < $0 } ?? last
        var (from, to) = (first, min(first + 1, pages.count))
        var left = maxLength
        func fits(_ page: Page) -> Bool {
            guard let token = page.syncToken, token.utf8.count + 1 <= left else { return false }
            left -= token.utf8.count + 1
            return true
        }
        guard fits(pages[from]) else { return nil }
        while to < pages.count, to - from < Self.maxPages, ends[to - 1] < visible.upperBound {
            guard fits(pages[to]) else { break }
            to += 1
        }
        // Add pages after and before in turn, as long as they fit.
        var grew = true
        while grew, to - from < Self.maxPages {
            grew = false
            if to < pages.count, fits(pages[to]) { (to, grew) = (to + 1, true) }
            if from > 0, to - from < Self.maxPages, fits(pages[from - 1]) { (from, grew) = (from - 1, true) }
        }
        return Window(
            pages: from..<to, entries: (from == 0 ? 0 : ends[from - 1])..<ends[to - 1],
            syncTokens: pages[from..<to].compactMap(\.syncToken))
    }

    private mutating func entry(_ cell: FeedCell) -> ListEntry {
        keys += 1
        return ListEntry(key: keys, cell: cell)
    }
}
