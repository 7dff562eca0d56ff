internal import Synchronization

/// Long runs of items that viewers dismissed, so that a page steps over what one before it had to read over.
///
/// A run is remembered by the place that a reading began at. It is good for as long as no item of the store came, went or moved, and no cell
/// was taken off a list of dismissed cells, whoever's. Then it is read over, and remembered, anew.
final class HiddenRuns: Sendable {
    struct Start: Sendable, Hashable {
        var viewer: String
        var section: Int
        var direction: PageDirection
        /// What has no cell in a layout is not passed over, but left out.
        var layout: CellLayout
        var place: ItemPlace?
    }

    private struct Run {
        var end: ItemPlace
        var version: StoreVersion
        var withdrawals: Int64
    }

    /// Shorter ones are read each time: most viewers need no memory.
    static let shortest = 256
    /// When there are more, the older half is forgotten. A run takes some 400 bytes at most.
    private static let capacity = 4_096

    private let runs = Mutex<(recent: [Start: Run], older: [Start: Run])>(([:], [:]))

    /// Whether it is worth asking the ledger.
    fileprivate func knows(_ start: Start) -> Bool { runs.withLock { $0.recent[start] != nil || $0.older[start] != nil } }

    /// The place of the run's last item.
    ///
    /// - Parameters:
    ///   - version: the store's, read before the snapshot that the page is read from.
    ///   - isUntouched: whether nothing but replacements happened in the store between two versions.
    fileprivate func end(
        of start: Start, withdrawals: Int64, version: StoreVersion, isUntouched: (StoreVersion, StoreVersion) -> Bool
    ) -> ItemPlace? {
        runs.withLock { runs in
            guard let run = runs.recent[start] ?? runs.older[start] else { return nil }
            guard run.withdrawals == withdrawals, isUntouched(run.version, version) else {
                runs.recent[start] = nil
                runs.older[start] = nil
                return nil
            }
            Self.keep(Run(end: run.end, version: version, withdrawals: withdrawals), from: start, in: &runs)
            return run.end
        }
    }

    fileprivate func keep(from start: Start, to end: ItemPlace, withdrawals: Int64, version: StoreVersion) {
        runs.withLock { Self.keep(Run(end: end, version: version, withdrawals: withdrawals), from: start, in: &$0) }
    }

    private static func keep(_ run: Run, from start: Start, in runs: inout (recent: [Start: Run], older: [Start: Run])) {
        if runs.recent.count >= capacity / 2 { runs = ([:], runs.recent) }
        runs.recent[start] = run
    }
}

/// The runs of one viewer, for one page.
struct PageRuns {
    let runs: HiddenRuns
    let store: any FeedStore
    let marks: ViewerMarks
    let viewer: String
    let layout: CellLayout
    /// Read before the snapshot that the page is read from.
    let version: StoreVersion

    /// - Throws: what the ledger throws.
    func end(in section: Int, _ direction: PageDirection, from place: ItemPlace?) throws -> ItemPlace? {
        let start = start(section, direction, place)
        guard runs.knows(start), let withdrawals = try marks.withdrawals() else { return nil }
        return runs.end(of: start, withdrawals: withdrawals, version: version) { [store] in
            store.isUntouched(PageExtent(), from: $0, to: $1)
        }
    }

    /// - Throws: what the ledger throws.
    func keep(in section: Int, _ direction: PageDirection, from place: ItemPlace?, to end: ItemPlace) throws {
        guard let withdrawals = try marks.withdrawals() else { return }
        runs.keep(from: start(section, direction, place), to: end, withdrawals: withdrawals, version: version)
    }

    private func start(_ section: Int, _ direction: PageDirection, _ place: ItemPlace?) -> HiddenRuns.Start {
        HiddenRuns.Start(viewer: viewer, section: section, direction: direction, layout: layout, place: place)
    }
}

/// The run that a reading passes over, from where one of its questions to the store began.
struct PassedRun {
    private var start: ItemPlace?
    private var end: ItemPlace?
    /// Items of it that were looked at.
    private var count = 0
    private var isOpen = false

    /// The next question begins; a run that reaches as far goes on.
    mutating func begin(at place: ItemPlace?) {
        if isOpen, end != nil { return }
        (start, end, count, isOpen) = (place, nil, 0, true)
    }

    /// So far it was known.
    mutating func step(to end: ItemPlace) { self.end = end }

    /// One more is passed over, unless something else came in between.
    mutating func pass(_ place: ItemPlace) {
        guard isOpen else { return }
        (end, count) = (place, count + 1)
    }

    mutating func close() { isOpen = false }

    /// Has it remembered once it is over, if it is long.
    ///
    /// - Throws: what the ledger throws.
    func keep(in runs: PageRuns?, _ section: Int, _ direction: PageDirection) throws {
        guard !isOpen, count >= HiddenRuns.shortest, let end, let runs else { return }
        try runs.keep(in: section, direction, from: start, to: end)
    }
}
