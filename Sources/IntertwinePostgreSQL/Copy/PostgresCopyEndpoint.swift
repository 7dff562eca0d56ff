package import IntertwineFeed
package import IntertwineStorageCore

package final class PostgresCopyEndpoint: CopySource, CopyDestination {
    private let address: PostgresAddress
    private let connection: PostgresConnection
    private let partitioning: PostgresConnection
    private var days = EventPartitions()

    package init(_ address: PostgresAddress) throws(StoreError) {
        self.address = address
        (connection, partitioning) = try ServerChecks.explaining(address) {
            let settings = PostgresSettings(applicationName: "intertwine copy-store", statementTimeout: .zero)
            let connection = try PostgresConnection(address, settings)
            try PostgresUse.takeAlone(connection)
            try PostgresSchema.create(PostgresItemSchema.part, connection)
            try PostgresSchema.create(PostgresLedgerSchema.part, connection)
            // Counters saved as one block become rows, like the rows of all other tables.
            try RateCounterLog.load(connection)
            return (connection, try PostgresConnection(address, settings))
        }
    }

    package func rows(of table: TableSchema, after key: [TableValue]?, limit: Int) throws -> [[TableValue]] {
        try speaking { try table.rows(after: key, limit: limit, connection) }
    }

    package func begin() throws {
        try speaking {
            for table in TableSchema.copied where !table.isFilled {
                guard try table.rows(after: nil, limit: 1, connection).isEmpty else {
                    throw StoreError.unusable("\(address.shown): is not empty; the destination of a copy must be empty")
                }
            }
            try connection.execute("SET idle_in_transaction_session_timeout = 0; BEGIN")
        }
    }

    package func append(_ rows: [[TableValue]], to table: TableSchema) throws {
        try speaking {
            if table.name == "event" {
                // The second column is the time.
                let times = rows.compactMap { $0[1].integer }
                try days.make(Set(times.map { LedgerTime.day(of: $0) }), today: .min, partitioning)
            }
            try connection.run([table.insertion(of: rows, .postgres)])
        }
    }

    package func close() {
        _ = try? connection.execute("ROLLBACK")
        PostgresUse.end(connection)
    }

    package func lastMarker() throws -> Int64 {
        try speaking {
            try connection.query("SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM event_number").integer(0, 0)
        }
    }

    package func finish(lastMarker: Int64) throws {
        try speaking {
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
                try connection.run(RateCounterLog.expectation(from: now))
            }
            try connection.execute("COMMIT")
            // Otherwise the first pages scan.
            try connection.execute("ANALYZE")
        }
    }

    private func speaking<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as PostgresError {
            throw StoreError.unavailable("\(address.shown): \(error)")
        }
    }
}
