import GRDB
import IntertwineStorageCore

extension SQLiteStore: CheckedFile {
    package var checkProgress: CheckProgress {
        var progress = check.progress
        progress.isDamaged = file.integrity.damage != nil
        return progress
    }

    package func checkSome() async -> CheckStep {
        await check.step(file, connections, rows: Self.checkRows, seal: Self.seal) { transaction in
            // Digests change nothing that a page shows, so cached pages stay valid.
            _ = try? await write { database, _ in try transaction(database) }
        }
    }

    /// The number of rows in one step.
    private static let rowsPerStep: Int64 = 256

    private static func rows(after key: [Int64], _ connection: some SQLConnection) throws -> SQLStatement {
        let statement = try SQLStatement(
            connection,
            """
            SELECT lane, position, kind, id, variant, body, digest FROM item WHERE (lane, position) > (?1, ?2)
            ORDER BY lane, position LIMIT ?3
            """)
        try statement.bind(1, key[0])
        try statement.bind(2, key[1])
        try statement.bind(3, rowsPerStep)
        return statement
    }

    private static func digest(_ row: SQLStatement) -> Int64 {
        var digest = RowDigest()
        for column in 2...5 { digest.add(row.view(column)) }
        return digest.value
    }

    static func checkRows(_ connection: any SQLConnection, after key: [Int64]) throws -> RowsChecked<Int64> {
        let statement = try rows(after: key, connection)
        defer { statement.reset() }
        var checked = RowsChecked<Int64>()
        while try statement.step() {
            checked.next = [statement.integer(0), statement.integer(1)]
            for column in 2...5 { checked.bytes += statement.view(column).count }
            if statement.isNull(6) {
                checked.unsealed = key
            } else if statement.integer(6) != digest(statement) {
                checked.damage = "the item \(statement.text(2)):\(statement.text(3)) does not match its digest"
            }
        }
        guard let next = checked.next, checked.damage == nil else { return checked }
        checked.damage = try TableCheck("item", connection).damagedIndex(
            from: key.map { .integer($0) }, through: next.map { .integer($0) }, connection)
        // Positions are evenly distributed over a stream, so they estimate the completed share.
        statement.reset()
        let last = try SQLStatement.integer(connection, "SELECT max(position) FROM item WHERE lane = ?", .integer(next[0])) ?? 0
        checked.share = last > 0 ? Double(next[1]) / Double(last) : 1
        return checked
    }

    /// Adds missing digests of rows, which an earlier version wrote or another program changed.
    private static func seal(after key: [Int64], _ database: Database) throws {
        let statement = try rows(after: key, database)
        var digests: [(stream: Int64, position: Int64, digest: Int64)] = []
        while try statement.step() {
            if statement.isNull(6) { digests.append((statement.integer(0), statement.integer(1), digest(statement))) }
        }
        statement.reset()
        let update = try SQLStatement(database, "UPDATE item SET digest = ?3 WHERE lane = ?1 AND position = ?2")
        for row in digests {
            try update.bind(1, row.stream)
            try update.bind(2, row.position)
            try update.bind(3, row.digest)
            try update.run()
        }
    }
}
