import GRDB
import IntertwineFeed

extension SourceSnapshot {
    /// Whether the items that a source brought last are all in the store as it, or another source, brought them, but
    /// for those that were taken down. Reads what is
    /// committed, up to the first item that is not.
    ///
    /// - Throws: `StoreError`
    public func isInStep() throws -> Bool {
        try reading { database in
            let number = try SQLStatement.integer(database, "SELECT number FROM source WHERE name = ?", .text(source))
            // Nothing has ever been applied, or nothing but empty lists.
            guard let number else { return true }
            let rows = try SQLStatement(
                database,
                """
                SELECT s.digest, s.kind, s.id, i.variant, i.body
                FROM source_item AS s LEFT JOIN item AS i ON i.kind = s.kind AND i.id = s.id WHERE s.source = ?
                AND NOT EXISTS (SELECT 1 FROM takedown AS t WHERE t.kind = s.kind AND t.id = s.id)
                """)
            let origins = try ItemOrigins(database, besides: number)
            defer { rows.reset() }
            try rows.bind(1, number)
            while try rows.step() {
                guard !rows.isNull(3) else { return false }
                let digest = ItemDigest(variant: rows.text(3), body: rows.bytes(4)).stored
                guard try digest == rows.integer(0) || origins.hasBrought(kind: rows.text(1), id: rows.text(2), digest: digest) else {
                    return false
                }
            }
            return true
        }
    }
}
