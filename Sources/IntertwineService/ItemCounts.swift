internal import IntertwineFeed
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import IntertwineStorageCore
internal import Logging

/// Brings the counts of viewers' lists into the items, so that pages, orders, caches and live updates follow them like any other change.
/// Why a periodic operation: a popular item is written once for many viewers, and items can be in another database than the lists.
struct ItemCounts: PeriodicService {
    private static let batch = 2_000

    let store: any ItemStore
    let ledger: any PersistentLedger
    let factories: CellFactories
    let leadership: any LeaderElection
    let logger: Logger
    var interval: Duration { factories.hasCounts ? .milliseconds(400) : .seconds(30) }
    let startsAtOnce = true
    /// The last cell whose counts were compared; nil if all are compared.
    private var compared: String? = ""
    private var version: StoreVersion?
    private let troubles = ReportThrottle()

    init(
        _ store: any ItemStore, _ ledger: any PersistentLedger, _ factories: CellFactories, _ leadership: any LeaderElection,
        _ logger: Logger
    ) {
        (self.store, self.ledger, self.factories, self.leadership, self.logger) = (store, ledger, factories, leadership, logger)
    }

    mutating func perform() async {
        guard await leadership.isLeading() else { return }
        do {
            while try await addChanges() {}
            try await compare()
        } catch {
            guard !(error is CancellationError), let repeated = troubles.repetitions(of: "counts", now: WallClock.now()) else { return }
            logger.warning("counts could not be updated", metadata: ["error": "\(error)", "since-the-last-line": "\(repeated)"])
        }
    }

    /// Returns true if more changes may wait.
    private func addChanges() async throws -> Bool {
        let (changes, counts) = try await ledger.changedCounts(limit: Self.batch)
        guard !changes.isEmpty else { return false }
        // The items come first: if the process ends here, they are written again with the same counts.
        try await set(counts)
        try await ledger.addUp(changes)
        return changes.count == Self.batch
    }

    /// Compares some counts with the items after these have changed. Why: an item that returns, after a takedown for example, has no counts.
    private mutating func compare() async throws {
        guard factories.hasCounts else { return }
        if compared == nil {
            guard version != store.version else { return }
            compared = ""
        }
        let start = compared ?? ""
        if start.isEmpty { version = store.version }
        var counts = try await ledger.counts(after: start, limit: Self.batch)
        let isComplete = counts.count < Self.batch
        // The lists of the last cell may be incomplete.
        if !isComplete, let last = counts.last?.cell, last != counts.first?.cell { counts.removeAll { $0.cell == last } }
        try await set(counts)
        compared = isComplete ? nil : counts.last?.cell
    }

    private func set(_ counts: [ListCount]) async throws {
        var texts: [ByteString: (key: ItemKey, members: [String])] = [:]
        for count in counts {
            // Companions are not counted: a viewer could be counted twice.
            guard let item = factories.item(ofCell: count.cell), let name = factories.counts(of: item.kind)[count.list],
                factories.cellID(kind: item.kind, id: item.id) == count.cell
            else { continue }
            let member = count.count > 0 ? ["\"counts.\(name)\":\(count.count)"] : []
            texts[ByteString(count.cell), default: (ItemKey(kind: item.kind, id: item.id), [])].members += member
        }
        guard !texts.isEmpty else { return }
        try await store.setCounts(texts.values.map { (key: $0.key, text: $0.members.sorted().joined(separator: ",")) })
    }
}
