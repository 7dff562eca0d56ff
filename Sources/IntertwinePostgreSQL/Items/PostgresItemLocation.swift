package import IntertwineItems
package import IntertwineStorageCore

/// A database of PostgreSQL that holds items.
package struct PostgresItemLocation: ItemLocation {
    private let address: PostgresAddress
    private let standby: PostgresAddress?
    private let changes: OwnWrites
    package let companions: String

    /// - Parameter standby: of which is read where it is as new as what this process has seen.
    package init(_ address: PostgresAddress, standby: PostgresAddress? = nil, companions: String) {
        (self.address, self.standby) = (address, standby)
        changes = OwnWrites(seen: standby.map { _ in CommittedLSN() })
        self.companions = companions
    }

    package var shown: String { address.shown }

    /// Always true. Opening the database reports its errors.
    package var isThere: Bool { true }

    package func isUpToDate() throws -> Bool {
        try ServerChecks.explaining(address) { try PostgresSchema.isUpToDate(PostgresConnection(address, PostgresSettings())) }
    }

    package func open(reading limits: ReadLimits) throws(StoreError) -> any ItemStore {
        try PostgresFeedStore(address, standby: standby.map(PostgresStandby.init), reading: limits, local: changes)
    }

    package func importer(
        kinds: ItemKinds, sections: [SectionConfiguration], policy: BadItemPolicy, isCompressed: Bool, limit: Int, isRehearsal: Bool,
        report: @escaping (InvalidItem) -> Void
    ) throws(StoreError) -> ItemImport {
        ItemImport(
            into: try PostgresImport(address, changes, sections: sections, isRehearsal: isRehearsal), at: shown, kinds: kinds,
            policy: policy,
            isCompressed: isCompressed, limit: limit, report: report)
    }

    package func leadership() -> any LeaderElection { PostgresLeadership(address, duty: 1) }

    package func collection(of source: String, kind: any ItemKind) throws -> any SourceCollection {
        try PostgresSourceSnapshot(of: source, kind: kind, into: address, changes)
    }
}
