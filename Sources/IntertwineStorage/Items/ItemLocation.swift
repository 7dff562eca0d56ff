internal import Glibc
package import IntertwineFeed

/// Where items are kept, for whoever opens the store there or writes to it beside a service that may be running.
package protocol ItemLocation: Sendable {
    /// For messages: no secret stands in it.
    var shown: String { get }

    /// Whether there is a store; it may be that it cannot be opened.
    var isThere: Bool { get }

    /// Whether there is a store as this version keeps it: opening it writes nothing.
    func isUpToDate() throws -> Bool

    /// Opens the store, and makes it where there is none.
    func open(reading limits: ReadLimits) throws(StoreError) -> any ItemStore

    /// Begins an import, see ``ItemImport``.
    func importer(
        kinds: ItemKinds, sections: [SectionConfiguration], policy: BadItemPolicy, isCompressed: Bool, limit: Int, isRehearsal: Bool,
        report: @escaping (InvalidItem) -> Void
    ) throws(StoreError) -> ItemImport

    /// Begins to collect what a source lists.
    ///
    /// - Throws: ``SnapshotRejection/busy(_:)`` while the same source is being synchronised elsewhere; `StoreError`.
    func collection(of source: String, kind: any ItemKind) throws -> any SourceCollection

    /// Who of all processes with this store asks its sources.
    func leadership() -> any LeaderElection

    /// What the names of files begin with that belong to the items and hold nothing that could not be found out again.
    var companions: String { get }
}

extension ItemLocation {
    package func importer(
        kinds: ItemKinds, policy: BadItemPolicy, limit: Int, report: @escaping (InvalidItem) -> Void
    ) throws(StoreError) -> ItemImport {
        try importer(kinds: kinds, sections: [], policy: policy, isCompressed: false, limit: limit, isRehearsal: false, report: report)
    }
}

/// Whether it is this process that does what one of all those with the same store has to do, such as asking remote sources.
package protocol LeaderElection: Sendable {
    /// To be asked each time before it is done: another process may have taken it over.
    func isLeading() async -> Bool
}

/// For a store that one process has to itself, or whose processes do not know of each other.
package struct AlwaysLeader: LeaderElection {
    package init() {}

    package func isLeading() -> Bool { true }
}

/// One complete list of a source's items: collected where nobody sees it, then applied to the store in one transaction. Not `Sendable`: one
/// caller at a time, and its calls block.
///
/// What is promised is the same for all stores; ``SourceSnapshot`` says it.
package protocol SourceCollection: AnyObject {
    /// Items collected.
    var count: Int { get }

    func add(_ items: [ValidatedItem]) throws -> [Int]

    func apply(removing share: Double, step: (Int) throws -> Void) throws -> SourceChanges

    func isInStep() throws -> Bool

    func discard()
}

extension SourceSnapshot: SourceCollection {}

/// An SQLite file of items.
package struct ItemFile: ItemLocation {
    private let path: String

    package init(_ path: String) {
        self.path = path
    }

    package var shown: String { path }

    package var isThere: Bool { access(path, F_OK) == 0 }

    package func isUpToDate() throws -> Bool { try ItemSchema.file(path).isUpToDate() }

    /// Looks whether it holds items, of this version or one before; nothing is written.
    ///
    /// - Throws: ``StoreError/unusable(_:)`` where it is something else.
    package func check() throws(StoreError) { _ = try ItemSchema.file(path).isUpToDate() }

    package func open(reading limits: ReadLimits) throws(StoreError) -> any ItemStore {
        try SQLiteStore(path: path, reading: limits)
    }

    package func importer(
        kinds: ItemKinds, sections: [SectionConfiguration], policy: BadItemPolicy, isCompressed: Bool, limit: Int, isRehearsal: Bool,
        report: @escaping (InvalidItem) -> Void
    ) throws(StoreError) -> ItemImport {
        try ItemImport(
            into: path, kinds: kinds, sections: sections, policy: policy, isCompressed: isCompressed, limit: limit,
            isRehearsal: isRehearsal, report: report)
    }

    package func collection(of source: String, kind: any ItemKind) throws -> any SourceCollection {
        try SourceSnapshot(of: source, kind: kind, into: path)
    }

    package func leadership() -> any LeaderElection { AlwaysLeader() }

    package var companions: String { path }
}
