public import Foundation

/// A page of cells.
public struct FeedPage: Sendable, Hashable {
    /// The cells in the order of the feed.
    public let cells: [FeedCell]
    /// The next page; nil at the end of the feed.
    public let next: URL?
    /// The previous page; nil at the start of the feed.
    public let previous: URL?
    /// The token for requesting changes, if the page was requested with `changes=true`.
    public let syncToken: String?
    /// The names of the sections on the page, in a feed with sections.
    public let sections: [String]
    /// True if the ranker of the feed failed, so that the page has an earlier ranking or the feed's own order.
    public var isDegraded: Bool { members["degraded"]?.boolean ?? false }
    /// The language of the texts (RFC 5646), if the server sends it; for example for screen readers.
    public let language: String?
    /// All members of `page`, including those that this package does not know.
    public let members: [String: JSONValue]

    /// Decodes a page; nil for any other value.
    ///
    /// Entries that are not cells are omitted. Changes of such a page are not requested, because its indices differ from those of the server.
    ///
    /// - Parameter base: The URL to which links are relative.
    public init?(_ value: JSONValue, base: URL? = nil, language: String? = nil) {
        guard let entries = value["cells"]?.array, let page = value["page"]?.object else { return nil }
        cells = entries.compactMap { FeedCell($0, base: base) }
        next = page["next"]?.text.flatMap { URL(href: $0, base: base) }
        previous = page["previous"]?.text.flatMap { URL(href: $0, base: base) }
        syncToken = cells.count == entries.count ? page["syncToken"]?.text : nil
        sections = page["sections"]?.array?.compactMap(\.text) ?? []
        self.language = language
        members = page
    }
}

/// A feed of the server, so that an app can list the feeds.
///
/// ```swift
/// for feed in try await client.feeds() {
///     print(feed.title ?? feed.name, feed.sections.map(\.name))
/// }
/// ```
public struct FeedSummary: Sendable, Hashable {
    /// A section of a feed.
    public struct Section: Sendable, Hashable {
        /// The name.
        public let name: String
        /// The title in the requested language; nil if the section has none.
        public let title: String?
        /// The first page of the section.
        public let url: URL
    }

    /// A filter of a feed, for ``FeedClient/url(feed:section:limit:layout:width:filters:)``.
    public struct Filter: Sendable, Hashable {
        /// A value, with the number of items that have it.
        public struct Value: Sendable, Hashable {
            /// The value.
            public let value: String
            /// The number of items.
            public let count: Int
        }

        /// The name of the field.
        public let name: String
        /// The type of the values: `choice`, `flag`, `number` or `text`. The list is open.
        public let type: String
        /// All values of a choice or a flag; the most frequent ones of another type.
        public let values: [Value]
    }

    /// The name, such as `main`.
    public let name: String
    /// The title in the requested language; nil if the feed has none.
    public let title: String?
    /// The first page.
    public let url: URL
    /// The layouts for which the feed has cells: `collection`, `table`.
    public let layouts: [String]
    /// The sections in order; empty if the feed has none.
    public let sections: [Section]
    /// The filters in the order of the configuration; empty if the feed has none.
    public let filters: [Filter]

    /// Decodes a feed, an object with a name and an href; nil for any other value.
    ///
    /// - Parameter base: The URL to which links are relative.
    public init?(_ value: JSONValue, base: URL? = nil) {
        func url(_ value: JSONValue) -> URL? { value["href"]?.text.flatMap { URL(href: $0, base: base) } }
        guard let name = value["name"]?.text, let first = url(value) else { return nil }
        self.name = name
        self.url = first
        title = value["title"]?.text
        layouts = value["layouts"]?.array?.compactMap(\.text) ?? []
        sections =
            value["sections"]?.array?.compactMap { section in
                guard let name = section["name"]?.text, let url = url(section) else { return nil }
                return Section(name: name, title: section["title"]?.text, url: url)
            } ?? []
        filters =
            value["filters"]?.array?.compactMap { filter in
                guard let name = filter["name"]?.text, let type = filter["type"]?.text else { return nil }
                let values = filter["values"]?.array?.compactMap { value in
                    value["value"]?.text.map { Filter.Value(value: $0, count: value["count"]?.number.map { Int($0) } ?? 0) }
                }
                return Filter(name: name, type: type, values: values ?? [])
            } ?? []
    }
}

/// The changes of the pages that a client holds: the response of `/feed/changes`.
struct FeedChanges: Sendable, Hashable {
    /// A cell with its index in the new list.
    struct IndexedCell: Sendable, Hashable {
        /// The index in the new list.
        let index: Int
        /// The cell.
        let cell: FeedCell
    }
    /// A removal.
    struct Removal: Sendable, Hashable {
        /// The index in the old list.
        let index: Int
        /// The id of the removed cell.
        let id: String
    }
    /// A move.
    struct Move: Sendable, Hashable {
        /// The index in the old list.
        let from: Int
        /// The index in the new list.
        let to: Int
        /// The id of the moved cell.
        let id: String
    }
    /// A page of the new list.
    struct Page: Sendable, Hashable {
        /// The number of cells.
        let count: Int
        /// The token for requesting further changes.
        let syncToken: String?
    }

    /// A Boolean value indicating whether the client must reload its pages.
    let isReload: Bool
    /// The removed cells, by old indices.
    let removed: [Removal]
    /// The inserted cells, by new indices.
    let inserted: [IndexedCell]
    /// The moved cells.
    let moved: [Move]
    /// The changed cells, by new indices.
    let reconfigured: [IndexedCell]
    /// The pages of the new list.
    let pages: [Page]
    /// The page after the last one; nil at the end of the feed.
    let next: URL?

    /// Changes that request a reload.
    static let reload = FeedChanges(isReload: true, removed: [], inserted: [], moved: [], reconfigured: [], pages: [], next: nil)

    private init(
        isReload: Bool, removed: [Removal], inserted: [IndexedCell], moved: [Move], reconfigured: [IndexedCell], pages: [Page],
        next: URL?
    ) {
        self.isReload = isReload
        self.removed = removed
        self.inserted = inserted
        self.moved = moved
        self.reconfigured = reconfigured
        self.pages = pages
        self.next = next
    }

    /// Decodes changes; nil for any other value. If a part is missing or malformed, the result requests a reload.
    init?(_ value: JSONValue, base: URL?) {
        guard let members = value.object, members["reload"]?.boolean != nil else { return nil }
        func placed(_ value: JSONValue) -> IndexedCell? {
            guard let index = value["index"]?.index, let cell = value["cell"].flatMap({ FeedCell($0, base: base) }) else { return nil }
            return IndexedCell(index: index, cell: cell)
        }
        guard members["reload"]?.boolean != true,
            let removed = Self.all(members["removed"], Self.removed),
            let inserted = Self.all(members["inserted"], placed),
            let moved = Self.all(members["moved"], Self.moved),
            let reconfigured = Self.all(members["reconfigured"], placed),
            let pages = Self.all(members["pages"], Self.page)
        else {
            self = .reload
            return
        }
        self.init(
            isReload: false, removed: removed, inserted: inserted, moved: moved, reconfigured: reconfigured, pages: pages,
            next: members["page"]?["next"]?.text.flatMap { URL(href: $0, base: base) })
    }

    private static func all<Part>(_ value: JSONValue?, _ read: (JSONValue) -> Part?) -> [Part]? {
        guard let array = value?.array else { return nil }
        let parts = array.compactMap(read)
        return parts.count == array.count ? parts : nil
    }

    private static func removed(_ value: JSONValue) -> Removal? {
        guard let index = value["index"]?.index, let id = value["id"]?.text else { return nil }
        return Removal(index: index, id: id)
    }

    private static func moved(_ value: JSONValue) -> Move? {
        guard let from = value["from"]?.index, let to = value["to"]?.index, let id = value["id"]?.text else { return nil }
        return Move(from: from, to: to, id: id)
    }

    private static func page(_ value: JSONValue) -> Page? {
        value["count"]?.index.map { Page(count: $0, syncToken: value["syncToken"]?.text) }
    }
}
