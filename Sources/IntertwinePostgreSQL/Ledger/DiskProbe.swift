/// Finds out whether the disk of the server has room for new rows. Rows that replace others find room in the pages that are there, and so
/// write to a full disk for a while.
///
/// Fills a temporary table with half a mebibyte, which the server gives back with the commit. That writes no log, and no other session waits for it.
struct DiskProbe {
    private var isMade = false
    /// True if the user may not create temporary tables.
    private var isRefused = false

    /// - Throws: ``PostgresError``, with the code 53100 where the disk is full.
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
