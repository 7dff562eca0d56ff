package import IntertwineItems
internal import IntertwineLedger
package import IntertwineStorageCore

/// Items and ledger in a database of PostgreSQL.
package final class PostgresCopyEndpoint: CopyEndpoint {
    package let shown: String
    package var identity: String { shown }
    private let connection: PostgresConnection
    private var days = EventPartitions()

    package init(_ address: PostgresAddress) throws(StoreError) {
        shown = address.shown
        connection = try ServerChecks.explaining(address) {
            let connection = try PostgresConnection(
                address, PostgresSettings(applicationName: "intertwine copy-store", statementTimeout: .zero))
            try PostgresUse.takeAlone(connection)
            try PostgresSchema.bringUpToDate(connection, part: ItemMigrations.part, migrations: ItemMigrations.all, isCopying: true)
            try PostgresSchema.bringUpToDate(
                connection, part: PostgresLedgerSchema.part, migrations: PostgresLedgerSchema.migrations, isCopying: true)
            // Counters saved as one block become rows, like the rows of all other tables.
            try SharedRateCounters.load(connection)
            return connection
        }
    }

    package func rows(of table: TableSchema, after key: [TableValue]?, limit: Int) throws -> [[TableValue]] {
        try speaking { try table.rows(after: key, limit: limit, connection) }
    }

    package func progress() throws -> CopyProgress? {
        try speaking {
            guard try connection.query("SELECT to_regclass('intertwine_copy') IS NOT NULL").flag(0, 0) else { return nil }
            let rows = try connection.query("SELECT progress FROM intertwine_copy")
            return rows.isEmpty ? nil : try CopyProgress(rows.text(0, 0))
        }
    }

    package func begin(_ progress: CopyProgress) throws {
        try speaking {
            try connection.transaction {
                try connection.execute("CREATE TABLE IF NOT EXISTS intertwine_copy (progress text NOT NULL)")
                try connection.query("DELETE FROM intertwine_copy")
                try connection.query("INSERT INTO intertwine_copy VALUES ($1)", .text(progress.text))
            }
        }
    }

    package func append(_ rows: [[TableValue]], to table: TableSchema, _ progress: CopyProgress) throws {
        if table.name == "event" {
            // The second column is the time.
            let times = rows.compactMap { $0[1].integer }
            try speaking { try days.make(Set(times.map { LedgerTime.day(of: $0) }), today: .min, connection) }
        }
        _ = try speaking {
            try connection.transaction {
                try connection.run([
                    table.insertion(of: rows, .postgres), SQLCommand("UPDATE intertwine_copy SET progress = $1", [.text(progress.text)]),
                ])
            }
        }
    }

    package func clear(_ tables: [TableSchema], _ progress: CopyProgress) throws {
        try speaking {
            try connection.transaction(isLong: true) {
                for table in tables.reversed() { try connection.execute("DELETE FROM \(table.name)") }
                try connection.query("UPDATE intertwine_copy SET progress = $1", .text(progress.text))
            }
        }
    }

    package func close() { PostgresUse.end(connection) }

    package func lastMarker() throws -> Int64 {
        try speaking {
            try connection.query("SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM event_number").integer(0, 0)
        }
    }

    package func finish(lastMarker: Int64) throws {
        try speaking {
            try connection.transaction {
                try connection.query("SELECT setval('event_number', $1, false)", .integer(lastMarker + 1))
                for table in TableSchema.copied {
                    guard let number = table.numberColumn else { continue }
                    try connection.execute(
                        """
                        SELECT setval(
                            pg_get_serial_sequence('\(table.name)', '\(number)'),
                            coalesce((SELECT max(\(number)) FROM \(table.name)), 0) + 1, false)
                        """)
                }
                if try connection.query("SELECT EXISTS (SELECT FROM allowance)").flag(0, 0) {
                    let now = try connection.query("SELECT \(ServerClock.expression)").integer(0, 0)
                    try connection.run(SharedRateCounters.expectation(from: now))
                }
                try connection.execute("DROP TABLE intertwine_copy")
            }
            // Otherwise the first pages scan.
            try connection.execute("ANALYZE")
        }
    }

    private func speaking<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PostgresError {
            throw StoreError.unavailable("\(shown): \(error)")
        }
    }
}
