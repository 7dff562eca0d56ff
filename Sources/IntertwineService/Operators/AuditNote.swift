public import IntertwineStorage
public import IntertwineSync
internal import Synchronization

/// Where whoever changes something says what it was, for the line that the audit log has of it.
public final class AuditNote: Sendable {
    /// Items that a line names; the rest is counted.
    public static let itemLimit = 100

    /// That of the request which is being answered; nil where none is kept of it.
    @TaskLocal static var current: AuditNote?

    private struct State {
        var changes: [String: Int] = [:]
        var items: [String] = []
    }

    private let state = Mutex(State())

    init() {}

    /// - Parameters:
    ///   - changes: how many items were changed, by the name of what was done to them.
    ///   - items: which, `klass:id` each, as far as that is known.
    public func tell(_ changes: [String: Int], items: some Sequence<String> = EmptyCollection()) {
        state.withLock { state in
            state.changes.merge(changes, uniquingKeysWith: +)
            state.items += items.prefix(Self.itemLimit - state.items.count)
        }
    }

    /// What an import did.
    public func tell(_ summary: ImportSummary) {
        tell(
            ["added": summary.added, "replaced": summary.replaced, "skipped": summary.skipped, "withheld": summary.withheld.count].filter {
                $0.value > 0
            }, items: summary.first.map(\.description))
    }

    /// What a synchronisation did.
    public func tell(_ outcome: SourceOutcome) {
        guard let changes = outcome.changes, !changes.isEmpty else { return }
        tell(["added": changes.added, "replaced": changes.changed, "removed": changes.removed, "released": changes.released])
    }

    func add(to entry: inout AuditEntry) {
        let state = state.withLock { $0 }
        guard !state.changes.isEmpty else { return }
        entry.changes = state.changes
        entry.items = state.items.isEmpty ? nil : state.items
    }
}
