internal import IntertwineStorageCore

/// A check whether the server's disk has space for new rows.
/// It writes no log and blocks no other session. Why: updated rows can reuse space of existing pages, so writes can succeed on a full disk
/// for a while.
struct DiskProbe {
    private var isMade = false
    private var isRefused = false

    mutating func run(_ connection: PostgresConnection) throws(PostgresError) {
        if isRefused { return }
        do throws(PostgresError) {
            if !isMade {
                // On the disk of the ledger's own tables. Pages are left nearly empty, so that few rows take many.
                try connection.execute(
                    """
                    SELECT set_config('temp_tablespaces', current_setting('default_tablespace'), false);
                    CREATE TEMPORARY TABLE disk_probe (number bigint NOT NULL) WITH (fillfactor = 10) ON COMMIT DELETE ROWS
                    """)
                isMade = true
            }
            try connection.query("INSERT INTO disk_probe SELECT generate_series(1, 1500)")
        } catch {
            if error.code == "42501" { return isRefused = true }
            // Frees the pages that were filled: the commit of a statement that uses the table truncates the table.
            if isMade, !error.isConnectionLost { _ = try? connection.query("DELETE FROM disk_probe WHERE false") }
            throw error
        }
    }
}
