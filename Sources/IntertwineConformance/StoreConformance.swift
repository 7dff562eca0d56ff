public import IntertwineItems

extension Conformance {
    /// Checks a store with at least three items of content, and a thousand at most. Nothing may change the store meanwhile.
    ///
    /// - Throws: ``ConformanceError``, or the error of a read.
    public static func check(_ store: some FeedStore) async throws {
        var violations = Violations()
        let version = store.version
        try await store.checkReady()
        let found = try await store.read(for: .request) { try Self.check($0) }
        violations.add(found.violations)

        do {
            try await store.read(for: .request) { (_) throws -> Void in throw BodyError() }
            violations.require(false, "A read throws the error of its body.")
        } catch {
            violations.require(error is BodyError, "A read throws the error of its body.")
        }
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for purpose in [ReadPurpose.request, .page, .background, .request, .page, .request, .request, .page] {
                group.addTask { try await store.read(for: purpose) { try Rows(query: .stream(.content), snapshot: $0).all().count } }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        violations.require(counts.allSatisfy { $0 == found.count }, "Concurrent reads see the same items.")
        let completed = try await withCheckedThrowingContinuation { continuation in
            _ = store.read(for: .request, { try Rows(query: .stream(.content), snapshot: $0).all().count }) {
                continuation.resume(with: $0)
            }
        }
        violations.require(completed == found.count, "A read with a completion has the result of the asynchronous one.")
        violations.require(store.version == version, "The version is equal as long as nothing changes.")
        violations.require(store.isValid(PageDependencies(), from: version, to: version), "A page is valid in its own version.")
        try violations.finish()
    }

    private static func check(_ snapshot: any FeedSnapshot) throws -> (violations: Violations, count: Int) {
        var violations = Violations()
        var content = 0
        for stream in [StreamID.content, .advertisements] {
            let rows = Rows(query: .stream(stream), snapshot: snapshot)
            let all = try rows.all()
            if stream == .content {
                content = all.count
                violations.require(all.count >= 3, "The check needs at least three items of content.")
            }
            violations.add(try rows.check(all))
            violations.require(
                zip(all, all.dropFirst()).allSatisfy { $0.position < $1.position }, "The items of a stream have ascending positions.")
            violations.require(Set(all.map { [$0.kind, $0.id] }).count == all.count, "Kind and id of an item are unique.")
            for item in all {
                let single = try snapshot.item(kind: item.kind, id: item.id)
                violations.require(
                    single.map { $0.variant == item.variant && $0.body == item.body } ?? false, "item(kind:id:) returns each visited item.")
            }
            violations.require(try snapshot.count(in: stream) == all.count, "count(in:) is the number of visited items.")
            for type in Set(all.map(\.type)) {
                let ofType = Rows(query: .type(type), snapshot: snapshot)
                violations.require(
                    try ofType.all().map(\.id) == all.filter { $0.type == type }.map(\.id), "A query for a type visits its items in order.")
            }
        }
        violations.require(
            try snapshot.item(kind: "conformance", id: "missing") == nil, "item(kind:id:) is nil if the store has no such item.")
        return (violations, content)
    }
}

/// The error of a body, which a read must throw.
private struct BodyError: Error {}

/// The rows of a query in a snapshot.
private struct Rows {
    let query: RowQuery.Rows
    let snapshot: any FeedSnapshot

    func all() throws -> [FeedItem] { try pages(of: 100, .forward) }

    func check(_ all: [FeedItem]) throws -> Violations {
        var violations = Violations()
        violations.require(try pages(of: 1, .forward) == all, "Pages of one item are all items, without a gap or a repetition.")
        violations.require(try pages(of: 7, .backward) == all.reversed(), "Backward pages are all items in reverse.")
        violations.require(try snapshot.items(RowQuery(query, limit: 2)).count == min(2, all.count), "A visit has its limit of items.")
        guard let first = all.first, let last = all.last else { return violations }
        violations.require(
            try snapshot.items(RowQuery(query, .forward, of: last.sortPosition, limit: 5)).isEmpty, "Nothing follows the last item.")
        violations.require(
            try snapshot.items(RowQuery(query, .backward, of: first.sortPosition, limit: 5)).isEmpty, "Nothing precedes the first item.")
        // A position need not be that of an item.
        if first.position > .min {
            let before = SortPosition(position: first.position - 1)
            let found = try snapshot.items(RowQuery(query, .forward, of: before, limit: 1))
            violations.require(found == [first], "An anchor need not be the position of an item.")
        }
        return violations
    }

    private func pages(of limit: Int, _ direction: PageDirection) throws -> [FeedItem] {
        var (items, anchor): ([FeedItem], SortPosition?) = ([], nil)
        while items.count < 10_000 {
            let page = try snapshot.items(RowQuery(query, direction, of: anchor, limit: limit))
            items += page
            guard page.count == limit, let last = page.last else { break }
            anchor = last.sortPosition
        }
        return items
    }
}
