internal import Glibc
package import IntertwineFeed

package struct ItemFile: ItemLocation {
    private let path: String

    package init(_ path: String) {
        self.path = path
    }

    package var shown: String { path }

    package var isThere: Bool { access(path, F_OK) == 0 }

    package func isUpToDate() throws -> Bool { try ItemSchema.file(path).isUpToDate() }

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

    package func leadership(in duty: LeaderDuty) -> any LeaderElection { AlwaysLeader() }

    package var companions: String { path }
}
