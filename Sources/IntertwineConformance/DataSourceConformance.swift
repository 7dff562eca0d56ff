public import IntertwineFeed
public import IntertwineItems

extension Conformance {
    /// Checks an asynchronous data source with at least three items, and a thousand at most. Nothing may change it meanwhile.
    ///
    /// ```swift
    /// try await Conformance.check(ArrayDataSource(items))
    /// ```
    ///
    /// - Throws: ``ConformanceError``, or the error of a call.
    public static func check(_ source: some AsyncDataSource) async throws {
        var violations = Violations()
        let version = source.version
        func pages(of limit: Int) async throws -> [FeedItem] {
            var (items, position): ([FeedItem], Int64?) = ([], nil)
            while items.count < 10_000 {
                let page = try await source.page(after: position, limit: limit)
                violations.require(page.count <= limit, "A page has its limit of items.")
                items += page
                guard page.count >= limit, let last = page.last else { break }
                position = last.position
            }
            return items
        }
        let all = try await pages(of: 300)
        violations.require(all.count >= 3, "The check needs at least three items.")
        violations.require(zip(all, all.dropFirst()).allSatisfy { $0.position < $1.position }, "The positions of items ascend.")
        violations.require(Set(all.map(\.id)).count == all.count, "The ids of items are unique.")
        violations.require(try await pages(of: 1) == all, "Pages of one item are all items, without a gap or a repetition.")
        violations.require(try await source.page(before: nil, limit: 2) == all.suffix(2), "The last page ends with the last item.")
        if let last = all.last {
            let before = try await source.page(before: last.position, limit: 2)
            violations.require(before == all.dropLast().suffix(2), "A page before a position has the last items before it.")
            violations.require(try await source.page(after: last.position, limit: 5).isEmpty, "Nothing follows the last item.")
        }
        for item in all.prefix(100) {
            violations.require(try await source.item(id: item.id) == item, "item(id:) returns each item of a page.")
        }
        violations.require(try await source.item(id: "conformance-missing") == nil, "item(id:) is nil if the source has no such item.")
        violations.require(source.version == version, "The version is equal as long as nothing changes.")
        try violations.finish()
    }

    /// Checks a data source over a store with items for it. Sections of asynchronous data sources are empty here; check these sources themselves.
    ///
    /// ```swift
    /// let store = try SQLiteStore(path: "items.sqlite")
    /// try await Conformance.check(FlatDataSource(.content, order: .newest), in: store)
    /// ```
    ///
    /// - Throws: ``ConformanceError``, or the error of a read.
    public static func check(_ source: some DataSource, in store: some FeedStore) async throws {
        var violations = Violations()
        violations.require(!source.sections.isEmpty, "A data source has a section.")
        let version = source.version
        violations.add(
            try await store.read(for: .request) { snapshot in
                try source.sections.indices.reduce(into: Violations()) {
                    $0.add(try Section(index: $1, source: source, snapshot: snapshot).check())
                }
            })
        violations.require(source.version == version, "The version is equal as long as nothing changes.")
        try violations.finish()
    }
}

/// A section of a data source in a snapshot.
private struct Section<Source: DataSource> {
    let index: Int
    let source: Source
    let snapshot: any FeedSnapshot

    func check() throws -> Violations {
        var violations = Violations()
        let all = try pages(of: 100, .forward)
        let positions = all.map(\.sortPosition)
        let pairs = zip(positions, positions.dropFirst())
        violations.require(
            pairs.allSatisfy { $0 < $1 } || pairs.allSatisfy { $1 < $0 }, "The positions of a section ascend, or all of them descend.")
        violations.require(try pages(of: 1, .forward) == all, "Pages of one item are all items, without a gap or a repetition.")
        violations.require(try pages(of: 7, .backward) == all.reversed(), "Backward pages are all items in reverse.")
        violations.require(try items(SectionQuery(section: index, limit: 2)).count == min(2, all.count), "A visit has its limit of items.")
        return violations
    }

    private func items(_ query: SectionQuery) throws -> [FeedItem] {
        var items: [FeedItem] = []
        try source.visit(query, in: snapshot) { items.append($0.item) }
        return items
    }

    private func pages(of limit: Int, _ direction: PageDirection) throws -> [FeedItem] {
        var (found, anchor): ([FeedItem], SortPosition?) = ([], nil)
        while found.count < 10_000 {
            let page = try items(SectionQuery(section: index, direction, of: anchor, limit: limit))
            found += page
            guard page.count == limit, let last = page.last else { break }
            anchor = last.sortPosition
        }
        return found
    }
}
