internal import Synchronization

/// Long runs of items that viewers dismissed, so that a page steps over what one before it had to read over.
///
/// A run is remembered by the place that a reading began at. It is good for as long as no item of the store came, went or moved, and no cell
/// was taken off a list of dismissed cells, whoever's. Then it is read over, and remembered, anew.
final class DismissedRangeCache: Sendable {
    struct Start: Sendable, Hashable {
        var viewer: String
        var section: Int
        var direction: PageDirection
        /// What has no cell in a layout is not passed over, but left out.
        var layout: CellLayout
        var position: SortPosition?
    }

    private struct Run {
        var end: SortPosition
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
    ) -> SortPosition? {
        runs.withLock { runs in
            guard let run = runs.recent[start] ?? runs.older[start] else { return nil }
            guard run.withdrawals == withdrawals, isUntouched(run.version, version) else {
                runs.recent[start] = nil
                runs.older[start] = nil
                return nil
            }
            Self.store(Run(end: run.end, version: version, withdrawals: withdrawals), from: start, in: &runs)
            return run.end
        }
    }

    fileprivate func store(from start: Start, to end: SortPosition, removalGeneration: Int64, version: StoreVersion) {
        runs.withLock { Self.store(Run(end: end, version: version, withdrawals: removalGeneration), from: start, in: &$0) }
    }

    private static func store(_ run: Run, from start: Start, in runs: inout (recent: [Start: Run], older: [Start: Run])) {
        if runs.recent.count >= capacity / 2 { runs = ([:], runs.recent) }
        runs.recent[start] = run
    }
}

/// The runs of one viewer, for one page.
struct DismissedRanges {
    let runs: DismissedRangeCache
    let store: any FeedStore
    let viewerState: ViewerState
    let viewer: String
    let layout: CellLayout
    /// Read before the snapshot that the page is read from.
    let version: StoreVersion

    /// - Throws: what the ledger throws.
    func end(in section: Int, _ direction: PageDirection, from place: SortPosition?) throws -> SortPosition? {
        let start = start(section, direction, place)
        guard runs.knows(start), let withdrawals = try viewerState.withdrawals() else { return nil }
        return runs.end(of: start, withdrawals: withdrawals, version: version) { [store] in
            store.isValid(PageDependencies(), from: $0, to: $1)
        }
    }

    /// - Throws: what the ledger throws.
    func remember(in section: Int, _ direction: PageDirection, from place: SortPosition?, to end: SortPosition) throws {
        guard let withdrawals = try viewerState.withdrawals() else { return }
        runs.store(from: start(section, direction, place), to: end, removalGeneration: withdrawals, version: version)
    }

    private func start(_ section: Int, _ direction: PageDirection, _ place: SortPosition?) -> DismissedRangeCache.Start {
        DismissedRangeCache.Start(viewer: viewer, section: section, direction: direction, layout: layout, position: place)
    }
}

/// The run that a reading passes over, from where one of its questions to the store began.
struct DismissedRange {
    private var start: SortPosition?
    private var end: SortPosition?
    /// Items of it that were looked at.
    private var count = 0
    private var isOpen = false

    /// The next question begins; a run that reaches as far goes on.
    mutating func begin(at place: SortPosition?) {
        if isOpen, end != nil { return }
        (start, end, count, isOpen) = (place, nil, 0, true)
    }

    /// So far it was known.
    mutating func step(to end: SortPosition) { self.end = end }

    /// One more is passed over, unless something else came in between.
    mutating func pass(_ place: SortPosition) {
        guard isOpen else { return }
        (end, count) = (place, count + 1)
    }

    mutating func close() { isOpen = false }

    /// Has it remembered once it is over, if it is long.
    ///
    /// - Throws: what the ledger throws.
    func store(in runs: DismissedRanges?, _ section: Int, _ direction: PageDirection) throws {
        guard !isOpen, count >= DismissedRangeCache.shortest, let end, let runs else { return }
        try runs.remember(in: section, direction, from: start, to: end)
    }
}
