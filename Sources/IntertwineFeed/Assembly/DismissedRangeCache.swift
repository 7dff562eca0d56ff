internal import IntertwineItems
internal import IntertwineLedger
internal import IntertwinePrimitives
internal import Synchronization

/// A cache of long ranges of items that viewers dismissed, so that a page skips a range that an earlier page had to read.
///
/// A range is stored under the position at which reading it began. It becomes invalid if any item of the store is inserted, deleted or
/// moved, or if a cell is removed from any viewer's list of dismissed cells. An invalid range is read and stored again.
final class DismissedRangeCache: Sendable {
    struct Start: Sendable, Hashable {
        var viewer: ByteString
        var section: Int
        var direction: PageDirection
        /// The layout, because items without a cell in a layout are skipped for another reason than dismissal.
        var layout: CellLayout
        var position: SortPosition?
    }

    private struct Run {
        var end: SortPosition
        var version: StoreVersion
        var withdrawals: Int64
    }

    /// The minimum length of a stored range. Shorter ranges are read each time, so that most viewers need no cache entry.
    static let shortest = 256
    /// The ranges. One uses at most about 400 bytes.
    private let runs = Mutex(BoundedCache<Start, Run>(limit: 4_096))

    /// Returns true if a range is stored, so that the ledger is queried only if necessary.
    fileprivate func knows(_ start: Start) -> Bool { runs.withLock { $0.peek(start) != nil } }

    /// Returns the position of the range's last item.
    ///
    /// - Parameters:
    ///   - version: The store version, read before the page's snapshot was taken.
    ///   - isUntouched: Returns true if the store only changed by in-place updates between two versions.
    fileprivate func end(
        of start: Start, withdrawals: Int64, version: StoreVersion, isUntouched: (StoreVersion, StoreVersion) -> Bool
    ) -> SortPosition? {
        runs.withLock { runs in
            guard let run = runs.peek(start) else { return nil }
            guard run.withdrawals == withdrawals, isUntouched(run.version, version) else {
                runs[start] = nil
                return nil
            }
            runs[start] = Run(end: run.end, version: version, withdrawals: withdrawals)
            return run.end
        }
    }

    fileprivate func store(from start: Start, to end: SortPosition, removalGeneration: Int64, version: StoreVersion) {
        runs.withLock { $0[start] = Run(end: end, version: version, withdrawals: removalGeneration) }
    }
}

/// The dismissed ranges of one viewer, as used for one page.
struct DismissedRanges {
    private let runs: DismissedRangeCache
    private let store: any FeedStore
    private let viewerState: ViewerState
    private let viewer: String
    private let layout: CellLayout
    /// The store version, read before the page's snapshot was taken.
    private let version: StoreVersion

    /// Returns nil if the page does not skip dismissed items.
    init?(in runs: DismissedRangeCache, for session: PageSession) {
        guard session.skipsDismissedCells, let viewerState = session.viewerState, let viewer = session.client.viewer?.name else {
            return nil
        }
        (self.runs, store, version) = (runs, session.store, session.version)
        (self.viewerState, self.viewer, layout) = (viewerState, viewer, session.request.layout)
    }

    /// Returns the position of the last item of the range that begins at a position, or nil if no valid range is stored.
    ///
    /// - Throws: Errors of the ledger.
    func end(in section: Int, _ direction: PageDirection, from sortPosition: SortPosition?) throws -> SortPosition? {
        let start = start(section, direction, sortPosition)
        guard runs.knows(start), let withdrawals = try viewerState.withdrawals() else { return nil }
        return runs.end(of: start, withdrawals: withdrawals, version: version) { [store] in
            store.isValid(PageDependencies(), from: $0, to: $1)
        }
    }

    /// Stores a range.
    ///
    /// - Throws: Errors of the ledger.
    func remember(in section: Int, _ direction: PageDirection, from sortPosition: SortPosition?, to end: SortPosition) throws {
        guard let withdrawals = try viewerState.withdrawals() else { return }
        runs.store(from: start(section, direction, sortPosition), to: end, removalGeneration: withdrawals, version: version)
    }

    private func start(_ section: Int, _ direction: PageDirection, _ sortPosition: SortPosition?) -> DismissedRangeCache.Start {
        DismissedRangeCache.Start(
            viewer: ByteString(viewer), section: section, direction: direction, layout: layout, position: sortPosition)
    }
}

/// A range of dismissed items that a reading is passing, from the position at which one of its store queries began.
struct DismissedRange {
    private var start: SortPosition?
    private var end: SortPosition?
    /// The number of items of the range that were read.
    private var count = 0
    private var isOpen = false

    /// Starts the next store query. An open range that reaches this position continues.
    mutating func begin(at sortPosition: SortPosition?) {
        if isOpen, end != nil { return }
        (start, end, count, isOpen) = (sortPosition, nil, 0, true)
    }

    /// Extends the range to the end of a cached range.
    mutating func step(to end: SortPosition) { self.end = end }

    /// Extends the range by one dismissed item, unless the range is closed.
    mutating func pass(_ sortPosition: SortPosition) {
        guard isOpen else { return }
        (end, count) = (sortPosition, count + 1)
    }

    mutating func close() { isOpen = false }

    /// Stores the range if it is closed and long enough.
    ///
    /// - Throws: Errors of the ledger.
    func store(in runs: DismissedRanges?, _ section: Int, _ direction: PageDirection) throws {
        guard !isOpen, count >= DismissedRangeCache.shortest, let end, let runs else { return }
        try runs.remember(in: section, direction, from: start, to: end)
    }
}
