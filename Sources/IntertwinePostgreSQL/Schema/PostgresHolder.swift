internal import IntertwineStorageCore

enum PostgresHolder {
    static func ofTable(_ connection: PostgresConnection) -> String? {
        let rows = try? connection.query(
            """
            SELECT format('session %s (%s) holds a lock on the table %s', held.pid, \(name), relname)
            FROM pg_locks AS held JOIN pg_class ON pg_class.oid = held.relation LEFT JOIN pg_stat_activity USING (pid)
            WHERE held.granted AND held.pid <> pg_backend_pid() AND relnamespace = to_regnamespace(quote_ident(current_schema()))
                AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                AND held.mode IN ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
            ORDER BY application_name LIKE 'intertwine%', held.pid LIMIT 1
            """)
        return text(rows)
    }

    static func ofAdvisoryLock(_ lock: Int64, _ connection: PostgresConnection) throws(PostgresError) -> String? {
        text(
            try connection.query(
                """
                SELECT format('session %s (%s) holds the advisory lock %s', held.pid, \(name), $1::bigint)
                FROM pg_locks AS held LEFT JOIN pg_stat_activity USING (pid)
                WHERE locktype = 'advisory' AND held.granted AND objsubid = 1 AND held.pid <> pg_backend_pid()
                    AND held.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND classid::bigint << 32 | objid::bigint = $1 AND application_name NOT LIKE 'intertwine%' LIMIT 1
                """, .integer(lock)))
    }

    private static let name = "coalesce(nullif(application_name, ''), 'without a name')"

    private static func text(_ rows: PostgresRows?) -> String? {
        guard let rows, !rows.isEmpty, !rows.isNull(0, 0) else { return nil }
        return rows.text(0, 0)
    }
}
