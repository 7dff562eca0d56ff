package import IntertwineFeed
package import IntertwineStorageCore

package struct PostgresItemLocation: ItemLocation {
    let address: PostgresAddress
    private let standby: PostgresAddress?
    private let maximumAge: Duration
    private let changes: OwnWrites
    package let companions: String

    /// `maximumAge`: The age up to which pages are read from a standby while the primary is away; zero for never.
    package init(_ address: PostgresAddress, standby: PostgresAddress? = nil, maximumAge: Duration = .zero, companions: String) {
        (self.address, self.standby, self.maximumAge) = (address, standby, maximumAge)
        changes = OwnWrites(seen: standby != nil || maximumAge > .zero ? CommittedLSN() : nil)
        self.companions = companions
    }

    package var shown: String { address.shown }

    package var isThere: Bool { true }

    package func isUpToDate() throws -> Bool {
        try ServerChecks.explaining(address) { try PostgresSchema.isComplete(PostgresConnection(address, PostgresSettings())) }
    }

    package func open(reading limits: ReadLimits) throws(StoreError) -> any ItemStore {
        let used =
            if let standby { PostgresStandby(standby, maximumAge: maximumAge) } else if maximumAge > .zero {
                PostgresStandby(address, servesReads: false, requiresStandby: true, maximumAge: maximumAge)
            } else { nil as PostgresStandby? }
        return try PostgresFeedStore(address, standby: used, reading: limits, local: changes)
    }

    package func importer(
        kinds: ItemKinds, sections: [SectionConfiguration], policy: BadItemPolicy, isCompressed: Bool, limit: Int, isRehearsal: Bool,
        report: @escaping (InvalidItem) -> Void
    ) throws(StoreError) -> ItemImport {
        ItemImport(
            into: try ServerChecks.explaining(address) {
                try StagedImport(
                    try PostgresStaging(address, changes, "intertwine import", note: "; nothing was imported"), sections: sections,
                    isRehearsal: isRehearsal)
            }, at: shown, kinds: kinds, policy: policy, isCompressed: isCompressed, limit: limit, report: report)
    }

    package func leadership(in duty: LeaderDuty) -> any LeaderElection { PostgresLeadership(address, duty: duty.rawValue) }

    package func collection(of source: String, kind: any ItemKind) throws -> any SourceCollection {
        try StagedSource(PostgresStaging(address, changes, "intertwine source", for: source), of: source, kind: kind)
    }
}
