package import IntertwineFeed

package protocol ItemLocation: Sendable {
    var shown: String { get }

    /// A Boolean value indicating whether a store exists, even if it cannot be opened.
    var isThere: Bool { get }

    /// Returns true if the store exists with the current version, so that opening it writes nothing.
    func isUpToDate() throws -> Bool

    func open(reading limits: ReadLimits) throws(StoreError) -> any ItemStore

    func importer(
        kinds: ItemKinds, sections: [SectionConfiguration], policy: BadItemPolicy, isCompressed: Bool, limit: Int, isRehearsal: Bool,
        report: @escaping (InvalidItem) -> Void
    ) throws(StoreError) -> ItemImport

    func collection(of source: String, kind: any ItemKind) throws -> any SourceCollection

    func leadership(in duty: LeaderDuty) -> any LeaderElection

    var companions: String { get }
}

extension ItemLocation {
    package func importer(
        kinds: ItemKinds, policy: BadItemPolicy, limit: Int, report: @escaping (InvalidItem) -> Void
    ) throws(StoreError) -> ItemImport {
        try importer(kinds: kinds, sections: [], policy: policy, isCompressed: false, limit: limit, isRehearsal: false, report: report)
    }
}

package enum LeaderDuty: Int64, Sendable {
    case sources = 1
    case counts
}

/// A leader election among the processes of a store, for work that one of them performs, such as the synchronization of sources.
package protocol LeaderElection: Sendable {
    /// Call it before each unit of work, because another process may become the leader.
    func isLeading() async -> Bool
}

/// A leader election for a store with a single process, or with processes that cannot coordinate.
package struct AlwaysLeader: LeaderElection {
    package init() {}

    package func isLeading() -> Bool { true }
}
