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
