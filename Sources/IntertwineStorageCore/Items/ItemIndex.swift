internal import IntertwineFeed

package struct ItemListQuery: Sendable {
    package enum Order: String, CaseIterable, Sendable {
        /// The order in which the index has first seen the items.
        case added = "number"
        case title
        case changed
    }

    package enum Schedule: String, Sendable {
        /// Items that become public or expire at a later time.
        case scheduled
        case expired, draft
    }

    package struct Anchor: Sendable, Hashable {
        package var text: String
        package var integer: Int64
        package var number: Int64

        package init(text: String, integer: Int64, number: Int64) {
            (self.text, self.integer, self.number) = (text, integer, number)
        }
    }

    /// A search finds at most this many items, of which a page shows some in the wanted order. Why: a word may be in all items.
    package static let searchLimit = 10_000

    package var kind: String?
    package var state: ItemState?
    /// True for the items alone that a remote source lists.
    package var isBySource = false
    /// The URL of a picture that the items show.
    package var picture: String?
    /// The items with this schedule alone.
    package var schedule: Schedule?
    /// The beginnings of words, all of which an item must have.
    package var words: [String] = []
    package var order = Order.added
    package var isDescending = false
    /// The section whose items are listed in their order; nil for all items.
    package var section: String?
    package var anchor: Anchor?
    package var limit: Int

    package init(limit: Int) { self.limit = limit }
}

package struct ListedItem: Sendable, Hashable {
    package var key: ItemKey
    package var state: ItemState
    package var variant: String
    /// The document, of an item that is taken down the last one; nil if none was kept.
    package var body: [UInt8]?
    /// Zero if that was before the index.
    package var changed: Int64
    package var anchor: ItemListQuery.Anchor
    package var takedown: Takedown?
    package var who: String?
    package var source: String?
}

/// The tables `item_entry` and `item_touched` and, in SQLite, `item_search`: an index of the items for operators. Triggers note the items that
/// writes change; ``update(limit:)`` brings their entries up to date.
///
/// Why: an import neither parses nor indexes what it writes, and a service whose operators do not list items has no index.
package struct ItemIndex<Session: SQLSession> {
    private static var tables: [TableSchema] { [.itemEntry, .itemTouched] }

    private let session: Session

    package init(_ session: Session) { self.session = session }

    // MARK: Creation

    package static var creation: String {
        let tables = tables.map { $0.creation(Session.dialect) }.joined()
        return tables + (Session.dialect.isPostgreSQL ? postgres : sqlite)
            + "INSERT INTO item_touched (kind, id, at) SELECT kind, id, 0 FROM item;\n"
            + "INSERT INTO item_touched (kind, id, at) SELECT kind, id, at FROM takedown WHERE kind >= '' ON CONFLICT DO NOTHING;\n"
    }

    /// SQLite's list of the words in the index. A store may have an index without it.
    package static var terms: String { "CREATE VIRTUAL TABLE IF NOT EXISTS item_term USING fts5vocab(item_search, instance)" }

    /// Writes all entries again, each with the time of its last change.
    package static var renewal: String {
        "INSERT INTO item_touched (kind, id, at) SELECT kind, id, changed FROM item_entry WHERE true ON CONFLICT DO NOTHING"
    }

    /// In SQLite, a condition of a table of words whose tokenizer is another one.
    package static var isOutdated: String { "SELECT 1 FROM sqlite_schema WHERE name = 'item_search' AND sql NOT LIKE '%Mc%'" }

    /// SQLite's table of words. Words are split and folded before, so the tokenizer keeps the characters of filters.
    package static var words: String {
        """
        DROP TABLE IF EXISTS item_search;
        CREATE VIRTUAL TABLE item_search USING fts5(
            words, detail = none, columnsize = 0, prefix = '2 3',
            tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co Mn Mc' tokenchars ':-_.'");

        """
    }

    private static var sqlite: String {
        // Milliseconds since 1970.
        let now = "CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)"
        func trigger(_ name: String, _ event: String, _ row: String, when condition: String = "true") -> String {
            """
            CREATE TRIGGER \(name) AFTER \(event) WHEN \(condition) BEGIN
                INSERT INTO item_touched (kind, id, at) VALUES (\(row).kind, \(row).id, \(now))
                    ON CONFLICT (kind, id) DO UPDATE SET at = excluded.at;
            END;

            """
        }
        return words + trigger("item_added", "INSERT ON item", "new") + trigger("item_removed", "DELETE ON item", "old")
            + trigger(
                "item_changed", "UPDATE OF variant, body ON item", "new",
                when: "old.body IS NOT new.body OR old.variant IS NOT new.variant")
            + trigger("takedown_added", "INSERT ON takedown", "new") + trigger("takedown_removed", "DELETE ON takedown", "old")
    }

    private static var postgres: String {
        let touching = """
            INSERT INTO @schema@.item_touched (kind, id, at)
                SELECT DISTINCT kind, id, (extract(epoch FROM clock_timestamp()) * 1000)::bigint FROM rows
            """
        let known = "ON CONFLICT (kind, id) DO UPDATE SET at = excluded.at"
        func trigger(_ table: String, _ event: String, _ tables: String, _ function: String) -> String {
            """
            CREATE TRIGGER \(table)_\(event.lowercased())_touches AFTER \(event) ON \(table) REFERENCING \(tables)
                FOR EACH STATEMENT EXECUTE FUNCTION \(function)();

            """
        }
        return """
            ALTER TABLE item_entry ADD COLUMN search tsvector;
            CREATE INDEX item_entry_search ON item_entry USING gin (search) WITH (fastupdate = off);
            CREATE FUNCTION intertwine_touch() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                \(touching) \(known);
                RETURN NULL;
            END $$;
            CREATE FUNCTION intertwine_touch_changed() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                \(touching) JOIN before USING (kind, id) WHERE rows.body <> before.body OR rows.variant <> before.variant \(known);
                RETURN NULL;
            END $$;

            """
                + ["item", "takedown"].map { table in
                    trigger(table, "INSERT", "NEW TABLE AS rows", "intertwine_touch")
                        + trigger(table, "DELETE", "OLD TABLE AS rows", "intertwine_touch")
                }.joined() + trigger("item", "UPDATE", "NEW TABLE AS rows OLD TABLE AS before", "intertwine_touch_changed")
    }

    // MARK: Entries

    package func backlog(limit: Int) throws -> Int {
        Int(try session.integer("SELECT count(*) FROM (SELECT 1 FROM item_touched LIMIT ?1) AS few", .integer(Int64(limit))) ?? 0)
    }

    package func update(limit: Int) throws -> Int {
        let touched = try session.rows(
            """
            SELECT new.kind, new.id, new.at, i.body, d.kind IS NOT NULL FROM (SELECT kind, id, at FROM item_touched LIMIT ?1) AS new
            LEFT JOIN item AS i ON i.kind = new.kind AND i.id = new.id
            LEFT JOIN takedown AS d ON d.kind = new.kind AND d.id = new.id AND d.kind \(Campaign.Override.isNoKind)
            """, .integer(Int64(limit))
        ) {
            (key: ItemKey(kind: $0.text(0), id: $0.text(1)), at: $0.integer(2), body: $0.optionalBytes(3), isTakenDown: $0.flag(4))
        }
        guard !touched.isEmpty else { return 0 }
        let entries = try touched.compactMap { one -> (key: ItemKey, at: Int64, state: ItemState, summary: ItemSummary)? in
            if let body = one.body { return (one.key, one.at, .public, ItemSummary(body)) }
            guard one.isTakenDown else { return nil }
            let last = try RevisionTable(session, by: "").removed(one.key)
            return (one.key, one.at, .takenDown, ItemSummary(last?.body ?? []))
        }
        try write(entries.map { ($0.key, $0.at, $0.state, $0.summary) }, without: touched.map(\.key))
        return touched.count
    }

    private func write(_ entries: [(key: ItemKey, at: Int64, state: ItemState, summary: ItemSummary)], without touched: [ItemKey]) throws {
        let dialect = Session.dialect
        let keys = [SQLValue.texts(touched.map(\.kind)), .texts(touched.map(\.id))]
        let isListed = "(kind, id) IN (SELECT kind, id FROM \(dialect.table("keys", ["kind", "id"])))"
        let present = Set(entries.map(\.key))
        let gone = touched.filter { !present.contains($0) }
        let goneKeys = [SQLValue.texts(gone.map(\.kind)), .texts(gone.map(\.id))]
        let (kinds, ids) = (SQLValue.texts(entries.map(\.key.kind)), SQLValue.texts(entries.map(\.key.id)))
        let words = SQLValue.texts(entries.map { $0.summary.words($0.key, $0.state) })
        var commands: [SQLCommand] = []
        if !dialect.isPostgreSQL {
            commands.append(
                SQLCommand("DELETE FROM item_search WHERE rowid = (SELECT number FROM item_entry WHERE kind = ?1 AND id = ?2)", keys))
        }
        if !gone.isEmpty { commands.append(SQLCommand("DELETE FROM item_entry WHERE \(isListed)", goneKeys)) }
        if !entries.isEmpty {
            let columns = ["kind", "id", "title", "state", "changed"]
            let values = [
                kinds, ids, .texts(entries.map(\.summary.sortKey)), .texts(entries.map(\.state.rawValue)), .integers(entries.map(\.at)),
            ]
            let (more, search) =
                dialect.isPostgreSQL ? (["words"], ", search") : ([], "")
            let selected = columns.joined(separator: ", ") + (more.isEmpty ? "" : ", array_to_tsvector(string_to_array(words, ' '))")
            let updates = (columns.dropFirst(2) + (dialect.isPostgreSQL ? ["search"] : [])).map { "\($0) = excluded.\($0)" }
            commands.append(
                SQLCommand(
                    """
                    INSERT INTO item_entry (\(columns.joined(separator: ", "))\(search)) SELECT \(selected)
                    FROM \(dialect.table("new", columns + more)) WHERE true
                    ON CONFLICT (kind, id) DO UPDATE SET \(updates.joined(separator: ", "))
                    """, values + (dialect.isPostgreSQL ? [words] : [])))
            if !dialect.isPostgreSQL {
                commands.append(
                    SQLCommand(
                        "INSERT INTO item_search (rowid, words) SELECT number, ?3 FROM item_entry WHERE kind = ?1 AND id = ?2",
                        [kinds, ids, words]))
            }
        }
        commands.append(SQLCommand("DELETE FROM item_touched WHERE \(isListed)", keys))
        try session.run(commands) { _, _ in }
    }

    // MARK: Lists

    /// Returns the items of a page. `found` is the number of all that a search finds, which a page of it reads anyway; nil without a search.
    package func list(_ query: ItemListQuery) throws -> (items: [ListedItem], found: Int?) {
        let layout = try SectionLayout(session)
        let (rows, keys, values) = try selection(query, layout)
        let order = { (table: String) in keys.map { "\(table)\($0)" }.joined(separator: ", ") }
        let command = SQLCommand(
            """
            SELECT page.kind, page.id, page.title, page.number, i.variant, i.body, c.changed, d.at, d.reason,
                (SELECT min(name) FROM source WHERE EXISTS (
                    SELECT 1 FROM source_item AS s WHERE s.source = source.number AND s.kind = page.kind AND s.id = page.id)), page.found
            FROM (\(rows) ORDER BY \(order("")) LIMIT ?1) AS page LEFT JOIN item_entry AS c ON c.kind = page.kind AND c.id = page.id
            LEFT JOIN item AS i ON i.kind = page.kind AND i.id = page.id
            LEFT JOIN takedown AS d ON d.kind = page.kind AND d.id = page.id
            ORDER BY \(order("page."))
            """, values)
        var listed: [ListedItem] = []
        var found: Int?
        try session.run([command]) { _, row in
            let key = ItemKey(kind: row.text(0), id: row.text(1))
            found = row.optionalInteger(10).map(Int.init)
            let changed = row.optionalInteger(6) ?? 0
            listed.append(
                ListedItem(
                    key: key, state: row.isNull(5) ? .takenDown : .public, variant: row.optionalText(4) ?? "",
                    body: row.optionalBytes(5), changed: changed,
                    anchor: ItemListQuery.Anchor(text: row.text(2), integer: changed, number: row.integer(3)),
                    takedown: row.optionalInteger(7).map { Takedown(item: key, at: $0, reason: row.optionalText(8)) },
                    source: row.optionalText(9)))
        }
        let items = try listed.map { item in
            guard item.body == nil, let last = try RevisionTable(session, by: "").removed(item.key) else { return item }
            var item = item
            (item.variant, item.body, item.who) = (last.variant, last.body, last.who)
            return item
        }
        return (items, found)
    }

    /// Returns the number of items that a query finds from its anchor on, at most ``ItemListQuery/searchLimit``.
    package func count(_ query: ItemListQuery) throws -> Int {
        var query = query
        query.limit = ItemListQuery.searchLimit
        let (rows, _, values) = try selection(query, SectionLayout(session))
        var count = 0
        try session.run([SQLCommand("SELECT count(*) FROM (\(rows) LIMIT ?1) AS found", values)]) { count = Int($1.integer(0)) }
        return count
    }

    /// Returns the rows of a query, the columns of their order, and the values of both.
    private func selection(_ query: ItemListQuery, _ layout: SectionLayout) throws -> (rows: String, order: [String], values: [SQLValue]) {
        var values: [SQLValue] = [.integer(Int64(query.limit))]
        func parameter(_ value: SQLValue) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        let none = "CAST(NULL AS bigint)"
        if let section = query.section {
            let stream = layout.streams[section] ?? (section == StoreOperation.advertisements ? .advertisements : nil)
            let lane = parameter(.integer(stream?.rawValue ?? -1))
            let start = parameter(.integer(query.anchor?.number ?? .min))
            let rows = "SELECT kind, id, '' AS title, position AS number, \(none) AS found FROM item"
            return ("\(rows) WHERE lane = \(lane) AND position > \(start)", ["number"], values)
        }
        var source = "item_entry AS entry"
        let filters =
            [
                query.kind.map { ItemSummary.filter("kind", $0) }, query.state.map { ItemSummary.filter("state", $0.rawValue) },
                query.picture.map { ItemSummary.filter(picture: $0) },
            ]
            .compactMap { $0 }
        if !query.words.isEmpty || query.picture != nil {
            let match = parameter(.text(try match(query.words, filters)))
            source =
                Session.dialect.isPostgreSQL
                ? Self.postgresSearch(match)
                : """
                (SELECT n.* FROM item_search CROSS JOIN item_entry AS n ON n.number = item_search.rowid
                    WHERE item_search MATCH \(match) LIMIT \(ItemListQuery.searchLimit)) AS entry
                """
        }
        var conditions: [String] = []
        if let kind = query.kind { conditions.append("entry.kind = \(parameter(.text(kind)))") }
        if let state = query.state {
            conditions.append("entry.state = \(parameter(.text(state.rawValue)))")
            if state != .public, query.words.isEmpty, query.picture == nil {
                source += Session.dialect.index("item_entry_state")
                // As in the index, so that both databases can use it.
                conditions.append("entry.state <> 'public'")
            }
        }
        if query.isBySource {
            // Why: of a million entries, SQLite took 5 s to read those of a hundred items one by one, and as long to collect most of them.
            let listed = "FROM source CROSS JOIN source_item AS s WHERE s.source = source.number"
            let count = try session.integer("SELECT count(*) FROM (SELECT 1 \(listed) LIMIT 20001) AS few") ?? 0
            conditions.append(
                count <= 20_000
                    ? "(entry.kind, entry.id) IN (SELECT s.kind, s.id \(listed))"
                    : "EXISTS (SELECT 1 \(listed) AND s.kind = entry.kind AND s.id = entry.id)")
        }
        if let schedule = query.schedule {
            let draft = Session.dialect.isPostgreSQL ? "intertwine_value(body, 'draft')" : "body -> '$.draft'"
            let isDraft = "coalesce(\(draft), '') = 'true'"
            let condition =
                switch schedule {
                case .scheduled: "due IS NOT NULL"
                case .expired: "lane < 0 AND due IS NULL AND NOT \(isDraft)"
                case .draft: "lane < 0 AND \(isDraft)"
                }
            conditions.append("(entry.kind, entry.id) IN (SELECT kind, id FROM item WHERE \(condition))")
        }
        let (comparison, way) = query.isDescending ? ("<", " DESC") : (">", "")
        let keys = query.order == .added ? ["number"] : [query.order.rawValue, "number"]
        if let anchor = query.anchor {
            let number = parameter(.integer(anchor.number))
            let more =
                switch query.order {
                case .added: [number]
                case .title: [parameter(.text(anchor.text)), number]
                case .changed: [parameter(.integer(anchor.integer)), number]
                }
            conditions.append("(\(keys.map { "entry.\($0)" }.joined(separator: ", "))) \(comparison) (\(more.joined(separator: ", ")))")
        }
        let condition = conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))"
        let found = query.words.isEmpty && query.picture == nil ? none : "count(*) OVER ()"
        return ("SELECT kind, id, title, changed, number, \(found) AS found FROM \(source)\(condition)", keys.map { $0 + way }, values)
    }

    /// Why: a GIN index reads all rows of all words before the first one, which took 350 ms for a beginning that most of a million items have.
    /// If a fifth of a small sample has the words, so has enough of a larger sample, whose rows are read one by one.
    private static func postgresSearch(_ match: String) -> String {
        let (limit, isFound) = (ItemListQuery.searchLimit, "search @@ \(match)::tsquery")
        // Without the column `search`, which would fill the memory for the sample.
        let entries = "SELECT number, kind, id, title, state, changed FROM item_entry"
        return """
            (WITH sample AS MATERIALIZED (
                \(entries) TABLESAMPLE SYSTEM (8) REPEATABLE (1) WHERE \(isFound) AND (
                    SELECT count(*) FILTER (WHERE \(isFound)) * 5 > count(*) FROM item_entry TABLESAMPLE SYSTEM (0.1) REPEATABLE (1))
                LIMIT \(limit))
            SELECT * FROM sample WHERE (SELECT count(*) FROM sample) = \(limit)
            UNION ALL SELECT * FROM (\(entries) WHERE \(isFound) AND (SELECT count(*) FROM sample) < \(limit) LIMIT \(limit)) AS every
            ) AS entry
            """
    }

    /// Words have letters and digits alone, and filters no quotation marks.
    private func match(_ words: [String], _ filters: [String]) throws -> String {
        Session.dialect.isPostgreSQL
            ? (words.map { "'\($0)':*" } + filters.map { "'\($0)'" }).joined(separator: " & ")
            : (try words.map(matchBeginning) + filters.map { "\"\($0)\"" }).joined(separator: " AND ")
    }

    /// Returns the words of the index that begin with a text, as alternatives.
    ///
    /// Why: FTS5 reads all rows of all words with a beginning before it returns the first one, but those of whole words one by one. A frequent
    /// word of a million items took 80 ms, and takes 7 ms as alternatives. Beginnings of two and three characters have an index of their own.
    private func matchBeginning(_ text: String) throws -> String {
        let beginning = "\"\(text)\" *"
        guard text.unicodeScalars.count > 3 else { return beginning }
        // Each step seeks the next word. The other end is the greatest character.
        let terms = try session.rows(
            """
            WITH RECURSIVE found (term) AS (
                SELECT (SELECT term FROM item_term WHERE term >= ?1 LIMIT 1)
                UNION ALL SELECT (SELECT term FROM item_term WHERE term >= found.term || char(1) LIMIT 1) FROM found
                WHERE found.term < ?1 || char(1114111) LIMIT ?2)
            SELECT term FROM found WHERE term < ?1 || char(1114111)
            """, .text(text), .integer(Int64(Self.mostTerms))
        ) { $0.text(0) }
        return terms.isEmpty || terms.count == Self.mostTerms ? beginning : "(\(terms.map { "\"\($0)\"" }.joined(separator: " OR ")))"
    }

    private static var mostTerms: Int { 128 }
}

extension TableSchema {
    package static let itemRevision = TableSchema(
        "item_revision", .items, key: 3, "kind text,id text,number integer,at integer,who string,action text,variant text,body document")
    static let itemTouched = TableSchema("item_touched", .items, key: 2, "kind text,id text,at integer")
    static let itemEntry = TableSchema(
        "item_entry", .items, key: 1, "number integer,kind text,id text,title text,state text,changed integer", .numbered(always: true),
        .constraint("UNIQUE (kind, id)"), .index("item_entry_title", on: "(title, number)"),
        .index("item_entry_changed", on: "(changed, number)"), .index("item_entry_kind_title", on: "(kind, title, number)"),
        .index("item_entry_kind_changed", on: "(kind, changed, number)"),
        .index("item_entry_state", on: "(state, number) WHERE state <> 'public'"))
}
