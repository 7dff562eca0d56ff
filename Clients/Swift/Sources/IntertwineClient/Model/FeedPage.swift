import Foundation

/// A page of cells.
public struct FeedPage: Sendable, Hashable {
    public let cells: [FeedCell]
    /// The pages beside it; nil at the ends.
    public let next: String?
    public let previous: String?
    /// What its changes are asked for with, where the page was asked for with `changes=true`.
    public let since: String?
    /// The sections it meets, in a feed that has sections.
    public let sections: [String]
    /// Of its texts (RFC 5646), where the server says it: what a screen reader has to know.
    public let language: String?
    /// All of `page`, what this package does not know included.
    public let members: [String: JSONValue]

    /// Nil where it is no page. What is no cell is left out, and such a page is not asked about any more, as its places are not those
    /// that the server counts.
    public init?(_ value: JSONValue, language: String? = nil) {
        guard let items = value["items"]?.array, let page = value["page"]?.object else { return nil }
        cells = items.compactMap(FeedCell.init)
        next = page["next"]?.text
        previous = page["previous"]?.text
        since = cells.count == items.count ? page["since"]?.text : nil
        sections = page["sections"]?.array?.compactMap(\.text) ?? []
        self.language = language
        members = page
    }
}

/// One of the feeds that there are, so that an app can offer them.
public struct FeedSummary: Sendable, Hashable {
    public struct Section: Sendable, Hashable {
        public let name: String
        /// In the language that was asked for; nil where it has none.
        public let title: String?
        /// Of its first page.
        public let href: String
    }

    public let name: String
    public let title: String?
    public let href: String
    /// Those that it has cells for: `collection`, `table`.
    public let layouts: [String]
    public let sections: [Section]

    /// Nil where it is no feed: it has a name and an href.
    public init?(_ value: JSONValue) {
        guard let name = value["name"]?.text, let href = value["href"]?.text else { return nil }
        self.name = name
        self.href = href
        title = value["title"]?.text
        layouts = value["layouts"]?.array?.compactMap(\.text) ?? []
        sections =
            value["sections"]?.array?.compactMap { section in
                guard let name = section["name"]?.text, let href = section["href"]?.text else { return nil }
                return Section(name: name, title: section["title"]?.text, href: href)
            } ?? []
    }
}

/// What became of the pages that a client holds: the answer of `/feed/changes`.
public struct FeedChanges: Sendable, Hashable {
    public struct Placed: Sendable, Hashable {
        public let index: Int
        public let cell: FeedCell
    }
    public struct Removed: Sendable, Hashable {
        public let index: Int
        public let id: String
    }
    public struct Moved: Sendable, Hashable {
        public let from: Int
        public let to: Int
        public let id: String
    }
    public struct Page: Sendable, Hashable {
        public let count: Int
        public let since: String?
    }

    /// Take the pages anew.
    public let isReload: Bool
    /// Old indices.
    public let removed: [Removed]
    public let inserted: [Placed]
    public let moved: [Moved]
    /// New indices.
    public let reconfigured: [Placed]
    public let pages: [Page]
    public let next: String?

    public static let reload = FeedChanges(isReload: true, removed: [], inserted: [], moved: [], reconfigured: [], pages: [], next: nil)

    private init(
        isReload: Bool, removed: [Removed], inserted: [Placed], moved: [Moved], reconfigured: [Placed], pages: [Page], next: String?
    ) {
        self.isReload = isReload
        self.removed = removed
        self.inserted = inserted
        self.moved = moved
        self.reconfigured = reconfigured
        self.pages = pages
        self.next = next
    }

    /// Nil where it is no such answer. One of which a part is missing or cannot be read asks for a reload: half of it would be wrong.
    public init?(_ value: JSONValue) {
        guard let members = value.object, members["reload"]?.boolean != nil else { return nil }
        guard members["reload"]?.boolean != true,
            let removed = Self.all(members["removed"], Self.removed),
            let inserted = Self.all(members["inserted"], Self.placed),
            let moved = Self.all(members["moved"], Self.moved),
            let reconfigured = Self.all(members["reconfigured"], Self.placed),
            let pages = Self.all(members["pages"], Self.page)
        else {
            self = .reload
            return
        }
        self.init(
            isReload: false, removed: removed, inserted: inserted, moved: moved, reconfigured: reconfigured, pages: pages,
            next: members["page"]?["next"]?.text)
    }

    private static func all<Part>(_ value: JSONValue?, _ read: (JSONValue) -> Part?) -> [Part]? {
        guard let array = value?.array else { return nil }
        let parts = array.compactMap(read)
        return parts.count == array.count ? parts : nil
    }

    private static func placed(_ value: JSONValue) -> Placed? {
        guard let index = value["index"]?.index, let cell = value["cell"].flatMap(FeedCell.init) else { return nil }
        return Placed(index: index, cell: cell)
    }

    private static func removed(_ value: JSONValue) -> Removed? {
        guard let index = value["index"]?.index, let id = value["id"]?.text else { return nil }
        return Removed(index: index, id: id)
    }

    private static func moved(_ value: JSONValue) -> Moved? {
        guard let from = value["from"]?.index, let to = value["to"]?.index, let id = value["id"]?.text else { return nil }
        return Moved(from: from, to: to, id: id)
    }

    private static func page(_ value: JSONValue) -> Page? {
        value["count"]?.index.map { Page(count: $0, since: value["since"]?.text) }
    }
}
