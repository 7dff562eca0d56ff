internal import IntertwineStorageCore

/// The partitions of the events: one for each day, made before the first event of that day is written, and dropped with all it holds.
struct EventPartitions {
    private static let length: Int64 = 86_400_000

    private var known: Set<Int64> = []

    func isMissing(_ days: Set<Int64>) -> Bool { !days.isSubset(of: known) }

    /// Its partition is created together with that of the next day, so that no write waits for it at midnight.
    mutating func make(_ days: Set<Int64>, today: Int64, _ connection: PostgresConnection) throws {
        var missing = days.subtracting(known)
        if missing.isEmpty { return }
        if missing.contains(today) { missing.insert(today + 1) }
        try connection.transaction {
            try connection.query(
                "SELECT pg_advisory_xact_lock($1::int, $2::int)", .integer(PostgresLedgerSchema.lockClass),
                .integer(PostgresLedgerSchema.Lock.partitions))
            for day in missing.sorted() {
                let name = Self.name(of: day)
                guard try !connection.query("SELECT to_regclass($1) IS NOT NULL", .text(name)).flag(0, 0) else { continue }
                // ATTACH PARTITION lets other sessions continue to write; CREATE TABLE … PARTITION OF would block them.
                try connection.execute(
                    """
                    CREATE TABLE \(name) (LIKE event INCLUDING DEFAULTS INCLUDING CONSTRAINTS);
                    -- With a publication of all tables, an erasure may not change rows that have no identity.
                    ALTER TABLE \(name) REPLICA IDENTITY FULL;
                    ALTER TABLE event ATTACH PARTITION \(name) FOR VALUES FROM (\(Self.start(of: day))) TO (\(Self.end(of: day)))
                    """)
            }
        }
        known.formUnion(missing)
        // A clock that runs through the years must not fill the memory.
        if known.count > 1_000 { known = days }
    }

    mutating func forget() { known = [] }

    private static func name(of day: Int64) -> String { "event_d" + (day < 0 ? "m\(day.magnitude)" : "\(day)") }

    private static func start(of day: Int64) -> String {
        let (start, isBeforeAll) = day.multipliedReportingOverflow(by: length)
        return isBeforeAll ? "MINVALUE" : "\(start)"
    }

    private static func end(of day: Int64) -> String {
        let (end, isBehindAll) = (day + 1).multipliedReportingOverflow(by: length)
        return isBehindAll ? "MAXVALUE" : "\(end)"
    }

    // MARK: Retention

    static func all(_ connection: PostgresConnection) throws -> [Int64] {
        let rows = try connection.query(
            """
            SELECT substr(relname, 8) FROM pg_class WHERE relkind = 'r' AND relname ~ '^event_dm?[0-9]+$'
            AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'event'::regclass)
            """)
        return (0..<rows.count).compactMap { row in
            let text = rows.text(row, 0)
            return text.hasPrefix("m") ? Int64("-" + text.dropFirst()) : Int64(text)
        }.sorted()
    }

    static func isOver(_ day: Int64, before moment: Int64) -> Bool {
        let (next, isBehindAll) = (day + 1).multipliedReportingOverflow(by: length)
        return !isBehindAll && next <= moment
    }

    static func drop(_ day: Int64, _ connection: PostgresConnection) throws -> Int? {
        let name = name(of: day)
        do {
            try connection.execute("SET lock_timeout = '200ms'")
            defer { _ = try? connection.execute("RESET lock_timeout") }
            // Before the events disappear, so that no reader misses them without an error.
            if let last = try connection.integer("SELECT max(id) FROM \(name)") {
                try ReportTables.setMarker(of: .removed, to: last, connection)
            }
            let state = try connection.query(
                "SELECT inhdetachpending FROM pg_inherits WHERE inhrelid = to_regclass($1) AND inhparent = 'event'::regclass", .text(name))
            if !state.isEmpty {
                try connection.execute("ALTER TABLE event DETACH PARTITION \(name) \(state.flag(0, 0) ? "FINALIZE" : "CONCURRENTLY")")
            }
            return try connection.transaction(isLong: true) {
                let count = try connection.query("SELECT count(*) FROM \(name)").integer(0, 0)
                try connection.execute("DROP TABLE \(name)")
                return Int(count)
            }
        } catch let error as PostgresError where ["55P03", "55000"].contains(error.code) {
            // Another session uses it, or another replica detaches it.
            return nil
        } catch let error as PostgresError where error.code == "42P01" {
            // Another replica has dropped it.
            return 0
        }
    }
}
