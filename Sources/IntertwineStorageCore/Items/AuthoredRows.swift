package import IntertwineFeed

extension StoreSnapshot where Self: SQLSession {
    /// Few authors: the newest items of each are cached, or the newest one is looked up in the index, and only the authors with the newest ones
    /// can be on the page. Many authors or a filter: the newest items of all are read, and those of other authors dropped, unless too few remain.
    package func visit(_ query: RowQuery, of authors: AuthorSet, _ body: (ItemRow) throws -> Void) throws {
        guard case .stream(let stream) = query.rows, query.limit > 0 else { return }
        let few = try authors.few()
        guard !few.isEmpty else { return }
        let index = SectionIndex(stream: stream, authors: authors.fields, among: authors.filters)
        let rows = AuthoredRows(session: self, stream: stream, query: query, authors: authors, index: index)
        let (isFew, isIndexed) = (few.count <= AuthorSet.mergeLimit, try index.exists(self))
        if isFew, isIndexed, let newest = authors.newest, query.filter == nil {
            let positions = try rows.cached(few, newest.items, at: newest.version)
            let items = try rows.items(at: positions)
            // The cache may be of a newer snapshot.
            let isCurrent =
                try items.count == positions.count
                && items.allSatisfy { try authors.author(of: $0).map(authors.cells.contains) ?? false }
            if isCurrent { return try items.forEach { try $0.withRow(body) } }
        }
        let isScanned = !isFew || query.filter != nil || !isIndexed
        let scanned = isScanned ? try rows.scanned(in: isFew ? [200] : [500, 1_500], isWhole: !isIndexed) : nil
        let positions = try scanned ?? rows.merged(isFew ? few : authors.many())
        for item in try rows.items(at: positions) { try item.withRow(body) }
    }
}

private struct AuthoredRows<Session: SQLSession & StoreSnapshot> {
    let session: Session
    let stream: StreamID
    let query: RowQuery
    let authors: AuthorSet
    let index: SectionIndex

    private var isForward: Bool { query.direction == .forward }
    private var comparison: String { isForward ? ">" : "<" }
    private var order: String { "ORDER BY position\(isForward ? "" : " DESC")" }
    private var anchor: Int64 { query.anchor?.position ?? (isForward ? .min : .max) }
    private var author: String { SectionIndex.author(authors.fields, Session.dialect) }
    private var lane: String { "lane = \(stream.rawValue)" }
    // An array, because code for any sequence is not specialised here: sorting it took most of the time of a page.
    private func first(_ positions: [Int64]) -> [Int64] {
        Array((isForward ? positions.sorted() : positions.sorted(by: >)).prefix(query.limit))
    }

    private func conditions(from number: Int) throws -> (text: String, values: [SQLValue]) {
        var values: [SQLValue] = []
        let texts = try (query.filter?.conditions ?? []).map { condition in
            let list = condition.values.map { value in
                values.append(.text(value))
                return "?\(number + values.count - 1)"
            }.joined(separator: ", ")
            let tags = SectionIndex(stream: stream, field: nil, filter: condition.filter, among: authors.filters)
            let isTagged = try condition.filter.form == .tags && tags.exists(session)
            return " AND \(isTagged ? tags.isTagged(list, like: "item") : SectionIndex.condition(condition.filter, list, Session.dialect))"
        }
        return (texts.joined(), values)
    }

    private var item: String { "item\(Session.dialect.index("\"\(index.name)\""))" }
    private var isPostgreSQL: Bool { Session.dialect.isPostgreSQL }
    /// An author, and the table of all authors if the database has arrays.
    private var asked: (name: String, table: String) { isPostgreSQL ? ("asked.name", " FROM unnest(?1) AS asked (name)") : ("?1", "") }

    func cached(_ authors: [String], _ newest: NewestItems, at version: StoreVersion) throws -> [Int64] {
        let lists = try newest.positions(of: authors, in: stream, at: version, read: self.newest(of:))
        // Closures that capture this generic type look up its metadata in each call.
        let (isForward, anchor) = (isForward, anchor)
        let places = lists.map { list in isForward ? list.filter { $0 > anchor } : Array(list.drop { $0 >= anchor }) }
        // The page has only authors whose nearest items are among the nearest of all.
        let nearest = first(places.compactMap { isForward ? $0.last : $0.first })
        let edge = nearest.count == query.limit ? nearest.last ?? 0 : isForward ? .max : .min
        let found = first(places.flatMap { place in place.prefix { isForward || $0 >= edge } })
        let end = found.count == query.limit ? found.last ?? 0 : isForward ? .max : .min
        // The authors that may have further items in this range.
        let more = zip(authors, lists).filter { $1.count == NewestItems.count && $1[$1.count - 1] > (isForward ? anchor : end) }.map(\.0)
        return more.isEmpty ? found : first(Array(Set(found + (try positions(of: more, until: end)))))
    }

    private func newest(of authors: [String]) throws -> [ByteString: [Int64]] {
        let rows = """
            SELECT \(asked.name), position FROM \(item) WHERE \(lane) AND \(author) = \(asked.name)
            ORDER BY position DESC LIMIT \(NewestItems.count)
            """
        let text = isPostgreSQL ? "SELECT part.*\(asked.table) CROSS JOIN LATERAL (\(rows)) AS part" : rows
        var lists: [ByteString: [Int64]] = [:]
        try session.run([SQLCommand(text, [.texts(authors)])]) { lists[ByteString($1.text(0)), default: []].append($1.integer(1)) }
        return lists
    }

    func merged(_ authors: [String]) throws -> [Int64] {
        guard !authors.isEmpty else { return [] }
        let (name, table) = asked
        let filter = try conditions(from: 3)
        let newest = """
            SELECT \(name), (SELECT position FROM \(item) WHERE \(lane) AND \(author) = \(name) AND position \(comparison) ?2\(filter.text)
            \(order) LIMIT 1)\(table)
            """
        var tops: [(author: String, position: Int64)] = []
        try session.run([SQLCommand(newest, [.texts(authors), .integer(anchor)] + filter.values)]) { _, row in
            if let position = row.optionalInteger(1) { tops.append((row.text(0), position)) }
        }
        tops.sort { isForward ? $0.position < $1.position : $0.position > $1.position }
        tops.removeLast(max(0, tops.count - query.limit))
        guard let last = tops.last?.position else { return [] }
        // No item after the last one of these can be on a full page.
        let end = tops.count == query.limit ? last : isForward ? .max : .min
        return first(try positions(of: tops.map(\.author), until: end))
    }

    /// Returns the positions of the authors' items up to a position.
    private func positions(of authors: [String], until end: Int64) throws -> [Int64] {
        let filter = try conditions(from: 5)
        let rows = """
            SELECT position FROM \(item) WHERE \(lane) AND \(author) = \(asked.name) AND position \(comparison) ?2
            AND position \(isForward ? "<=" : ">=") ?3\(filter.text) \(order) LIMIT ?4
            """
        let text = isPostgreSQL ? "SELECT part.position\(asked.table) CROSS JOIN LATERAL (\(rows)) AS part" : rows
        let values: [SQLValue] = [.texts(authors), .integer(anchor), .integer(end), .integer(Int64(query.limit))]
        var positions: [Int64] = []
        try session.run([SQLCommand(text, values + filter.values)]) { positions.append($1.integer(0)) }
        return positions
    }

    /// Reads batches of the items that match the filter, and further ones if the whole stream is to be read.
    /// nil if too few of them are by the authors.
    func scanned(in batches: [Int], isWhole: Bool) throws -> [Int64]? {
        var (found, rest, number) = ([Int64](), query, 0)
        while isWhole || number < batches.count {
            rest.limit = batches.indices.contains(number) ? batches[number] : 5_000
            number += 1
            var rows: [(position: Int64, author: String?)] = []
            // The author is read from the body here, as on filtered pages: SQL would decode the body too, and on PostgreSQL more slowly.
            let add = { (row: ItemRow) in rows.append((row.position, authors.author(of: row.item))) }
            if let filter = query.filter { try session.visit(rest, by: filter, add) } else { try session.visit(rest, add) }
            try authors.cells.prefetch(Array(Set(rows.compactMap(\.author))))
            for row in rows where try row.author.map(authors.cells.contains) ?? false { found.append(row.position) }
            guard found.count < query.limit, rows.count == rest.limit, let last = rows.last else { return first(found) }
            rest.anchor = SortPosition(position: last.position)
        }
        return nil
    }

    func items(at positions: [Int64]) throws -> [FeedItem] {
        var items: [FeedItem] = []
        let text = """
            SELECT kind, id, variant, position, \(CountedItem.body) FROM \(Session.dialect.table("wanted", ["place"]))
            CROSS JOIN item WHERE \(lane) AND position = wanted.place
            """
        try session.run([SQLCommand(text, [.integers(positions)])]) { _, row in
            items.append(
                FeedItem(kind: row.text(0), id: row.text(1), variant: row.text(2), position: row.integer(3), body: row.bytes(4)))
        }
        return items.sorted { isForward ? $0.position < $1.position : $0.position > $1.position }
    }
}
