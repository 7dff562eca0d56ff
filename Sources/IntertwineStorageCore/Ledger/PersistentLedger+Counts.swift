package import IntertwineFeed

/// The number of viewers that have a cell on a list.
package struct ListCount: Sendable, Hashable {
    package var cell: String
    package var list: ViewerList
    package var count: Int64
}

/// The triggers that record each change of a list in the transaction of that change, whichever statement makes it.
/// Why rows that are added up later: writers would wait for each other at one row for each popular cell. The lists of dismissed and selected
/// cells are not counted, because each selection would pay for it.
package enum ListCounts {
    package static func schema(_ dialect: SQLDialect) -> String {
        let tables = [TableSchema.listCount, .listChange].map { $0.creation(dialect) }.joined()
        func isCounted(_ row: String) -> String { "\(row).list NOT IN ('dismissed', 'selected')" }
        let insertion = "INSERT INTO list_change (cell, list, change) VALUES"
        // The lists that exist are counted once.
        let filling = """
            INSERT INTO list_change (cell, list, change) SELECT cell, list, count(*) FROM listing
            WHERE \(dialect.isTrue("leads")) AND list NOT IN ('dismissed', 'selected') GROUP BY cell, list;

            """
        if dialect.isPostgreSQL {
            return tables + """
                CREATE FUNCTION intertwine_list_changed() RETURNS trigger LANGUAGE plpgsql AS $$
                BEGIN
                    IF TG_OP = 'DELETE' THEN \(insertion) (OLD.cell, OLD.list, -1);
                    ELSE \(insertion) (NEW.cell, NEW.list, CASE WHEN NEW.leads THEN 1 ELSE -1 END);
                    END IF;
                    RETURN NULL;
                END $$;
                CREATE TRIGGER listing_added AFTER INSERT ON listing FOR EACH ROW
                    WHEN (NEW.leads AND \(isCounted("NEW"))) EXECUTE FUNCTION intertwine_list_changed();
                CREATE TRIGGER listing_changed AFTER UPDATE OF leads ON listing FOR EACH ROW
                    WHEN (NEW.leads <> OLD.leads AND \(isCounted("NEW"))) EXECUTE FUNCTION intertwine_list_changed();
                CREATE TRIGGER listing_removed AFTER DELETE ON listing FOR EACH ROW
                    WHEN (OLD.leads AND \(isCounted("OLD"))) EXECUTE FUNCTION intertwine_list_changed();

                """ + filling
        }
        return tables + """
            CREATE TRIGGER listing_added AFTER INSERT ON listing WHEN NEW.leads = 1 AND \(isCounted("NEW"))
            BEGIN \(insertion) (NEW.cell, NEW.list, 1); END;
            CREATE TRIGGER listing_changed AFTER UPDATE OF leads ON listing WHEN NEW.leads <> OLD.leads AND \(isCounted("NEW"))
            BEGIN \(insertion) (NEW.cell, NEW.list, NEW.leads - OLD.leads); END;
            CREATE TRIGGER listing_gone AFTER DELETE ON listing WHEN OLD.leads = 1 AND \(isCounted("OLD"))
            BEGIN \(insertion) (OLD.cell, OLD.list, -1); END;

            """ + filling
    }
}

extension PersistentLedger {
    /// The counts of the cells whose lists have changed, with these changes, and the numbers of the changes for ``addUp(_:)``.
    package func changedCounts(limit: Int) async throws -> (changes: [Int64], counts: [ListCount]) {
        try await reading(for: .background) { session in
            var (changes, counts) = ([Int64](), [CountKey: Int64]())
            // One statement, so that no change is read twice while another process adds it up.
            try session.run([
                SQLCommand(
                    """
                    WITH changed AS (SELECT id, cell, list, change FROM list_change ORDER BY id LIMIT ?1)
                    SELECT id, cell, list, change FROM changed
                    UNION ALL SELECT 0, cell, list, count FROM list_count WHERE cell IN (SELECT cell FROM changed)
                    """, [.integer(Int64(limit))])
            ]) { _, row in
                if row.integer(0) > 0 { changes.append(row.integer(0)) }
                counts[CountKey(cell: ByteString(row.text(1)), list: row.text(2)), default: 0] += row.integer(3)
            }
            return (changes, counts.map { ListCount(cell: $0.key.cell.text, list: ViewerList(rawValue: $0.key.list), count: $0.value) })
        }
    }

    package func addUp(_ changes: [Int64]) async throws {
        guard let last = changes.max() else { return }
        let conflict = "ON CONFLICT (cell, list) DO UPDATE SET count = stored.count + excluded.count"
        try await writing(isDurable: false, nil) { session in
            if Session.dialect.isPostgreSQL {
                try session.write(
                    """
                    WITH gone AS (DELETE FROM list_change WHERE id = ANY (?1) RETURNING cell, list, change)
                    INSERT INTO list_count AS stored (cell, list, count)
                    SELECT cell, list, sum(change)::bigint FROM gone GROUP BY cell, list ORDER BY cell, list \(conflict)
                    """, .integers(changes))
            } else {
                // Numbers are in the order of commits.
                try session.write(
                    """
                    INSERT INTO list_count AS stored (cell, list, count)
                    SELECT cell, list, sum(change) FROM list_change WHERE id <= ?1 GROUP BY cell, list \(conflict)
                    """, .integer(last))
                try session.write("DELETE FROM list_change WHERE id <= ?1", .integer(last))
            }
        }
    }

    /// In the order of the cells.
    package func counts(after cell: String, limit: Int) async throws -> [ListCount] {
        try await reading(for: .background) { session in
            try session.rows(
                "SELECT cell, list, count FROM list_count WHERE cell > ?1 ORDER BY cell, list LIMIT ?2", .text(cell), .integer(Int64(limit))
            ) { ListCount(cell: $0.text(0), list: ViewerList(rawValue: $0.text(1)), count: $0.integer(2)) }
        }
    }
}

private struct CountKey: Hashable {
    var cell: ByteString
    var list: String
}
