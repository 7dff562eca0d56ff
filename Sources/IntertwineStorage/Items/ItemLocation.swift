internal import Glibc
package import IntertwineFeed

/// A location of an item store, with functions that open the store or write to it while a service may be running.
package protocol ItemLocation: Sendable {
    /// The name of the location in messages, without secrets.
    var shown: String { get }

    /// A Boolean value indicating whether a store exists, even if it cannot be opened.
    var isThere: Bool { get }

    /// Returns true if the store exists with the current version, so that opening it writes nothing.
    func isUpToDate() throws -> Bool

    /// Opens the store, and creates it if it is missing.
    func open(reading limits: ReadLimits) throws(StoreError) -> any ItemStore

    /// Begins an import, see ``ItemImport``.
    func importer(
        kinds: ItemKinds, sections: [SectionConfiguration], policy: BadItemPolicy, isCompressed: Bool, limit: Int, isRehearsal: Bool,
        report: @escaping (InvalidItem) -> Void
    ) throws(StoreError) -> ItemImport

    /// Begins to collect the items of a source.
    ///
    /// - Throws: ``SnapshotRejection/busy(_:)`` while the source is being synchronized elsewhere; `StoreError`.
    func collection(of source: String, kind: any ItemKind) throws -> any SourceCollection

    /// Returns the leader election that selects the process that synchronizes sources.
    func leadership() -> any LeaderElection

    /// The name prefix of files that belong to the items and contain only data that can be recreated.
    var companions: String { get }
}

extension ItemLocation {
    package func importer(
        kinds: ItemKinds, policy: BadItemPolicy, limit: Int, report: @escaping (InvalidItem) -> Void
    ) throws(StoreError) -> ItemImport {
        try importer(kinds: kinds, sections: [], policy: policy, isCompressed: false, limit: limit, isRehearsal: false, report: report)
    }
}

/// A leader election among the processes of a store, for work that one of them performs, such as the synchronization of sources.
package protocol LeaderElection: Sendable {
    /// Returns true if this process is the leader. Call it before each unit of work, because another process may become the leader.
    func isLeading() async -> Bool
}

/// A leader election for a store with a single process, or with processes that cannot coordinate.
package struct AlwaysLeader: LeaderElection {
    package init() {}

    package func isLeading() -> Bool { true }
}

/// A complete list of a source's items, which is collected privately and then applied to the store in one transaction.
///
/// Not `Sendable`: one caller at a time, and its calls block. All stores have the behaviour that ``SourceSnapshot`` documents.
package protocol SourceCollection: AnyObject {
    /// The number of collected items.
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

    /// Checks that the file contains items of this version or an earlier one. Writes nothing.
    ///
    /// - Throws: `StoreError.unusable` if the file has other content.
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
