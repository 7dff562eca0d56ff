/// A set of cells at one moment; valid only inside the call that receives it.
package protocol CellSet {
    func contains(_ cell: String) throws -> Bool

    /// Returns the latest cells of the set, in any order.
    func cells(limit: Int) throws -> [String]

    /// Announces the cells of the following calls of ``contains(_:)``, so that one query of a server answers all of them.
    func prefetch(_ cells: @autoclosure () -> [String]) throws
}

extension CellSet {
    package func prefetch(_ cells: @autoclosure () -> [String]) throws {}
}

package final class AuthorSet {
    /// A page by more authors is first looked for among the newest items. Why: many authors have an item there, and a look at each author costs
    /// more.
    package static let mergeLimit = 500
    /// A page has the items of this many of the followed authors. Why: each costs a look at its items, and a viewer can follow any number.
    package static let limit = 5_000

    /// The field of each kind that names the author of its items.
    package var fields: [String: String]
    /// The filters of the feed, which its indices contain.
    package let filters: [ItemFilter]
    package let cells: any CellSet
    /// The cache for the version of the store; nil if nothing is cached.
    package let newest: (items: NewestItems, version: StoreVersion)?
    private var first: [String]?
    private var all: [String]?

    package init(
        _ cells: any CellSet, fields: [String: String] = [:], filters: [ItemFilter] = [],
        newest: (items: NewestItems, version: StoreVersion)? = nil
    ) {
        (self.cells, self.fields, self.filters, self.newest) = (cells, fields, filters, newest)
    }

    /// Up to one more than ``mergeLimit``. A page reads them once.
    package func few() throws -> [String] {
        if let first { return first }
        let found = try cells.cells(limit: Self.mergeLimit + 1)
        first = found
        return found
    }

    /// The latest ones, up to ``limit``. A page reads them once.
    package func many() throws -> [String] {
        if let all { return all }
        let found = try cells.cells(limit: Self.limit)
        all = found
        return found
    }

    package func author(of item: FeedItem) -> String? {
        guard let field = fields[item.kind], let fields = try? ItemFields(item.body),
            let author = try? fields.optionalText(field, limit: .max)
        else { return nil }
        return String(decoding: author, as: UTF8.self)
    }
}

extension StoreSnapshot {
    /// Reads all items, because a store without an index has no other way.
    package func visit(_ query: RowQuery, of authors: AuthorSet, _ body: (ItemRow) throws -> Void) throws {
        var (rest, batch) = (query, query)
        batch.limit = RowBatch.size
        while rest.limit > 0 {
            let items = try items(batch)
            for item in items where try rest.limit > 0 && authors.author(of: item).map(authors.cells.contains) ?? false {
                rest.limit -= 1
                try item.withRow(body)
            }
            guard items.count == batch.limit else { return }
            batch.anchor = items.last?.sortPosition
        }
    }
}
