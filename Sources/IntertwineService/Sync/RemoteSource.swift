internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwinePrimitives
internal import IntertwineStorage

/// A JSON API with whose items the store is kept in step.
///
/// ```swift
/// let url = try FetchURL("https://api.example.com/users")
/// guard let kind = ItemKinds.standard["user"], let items = JSONPointer("/data") else { return }
/// var source = RemoteSource(name: "users", url: url, kind: kind, items: items)
/// source.next = .link
/// source.policy = .skip
/// ```
struct RemoteSource: Sendable {
    /// The longest source name. Addresses, metrics and files use the name.
    static let nameLimit = 64

    /// The name: lower-case letters, digits and hyphens.
    var name: String
    /// The URL of the first page.
    var url: FetchURL
    /// The kind of all its items.
    var kind: any ItemKind
    /// The mapping of an item's fields; nil for the JSON members with equal names.
    var fields: FieldMapping?
    /// The conditions of items. Objects of the list that do not satisfy all of them are no items.
    var conditions: [SourceCondition] = []
    /// The pointer to the list in a page.
    var items: JSONPointer
    /// The pagination of the source. The default is a single page.
    var next: NextPage = .none
    /// Header fields, sent to the origin of ``url`` and to no other.
    var headers = HTTPFields()
    /// The time from the end of one synchronisation to the start of the next.
    var interval: Duration = .seconds(300)
    /// The handling of invalid items. By default, an invalid item ends the synchronisation.
    var policy = BadItemPolicy.stop
    /// The share of the source's items that one synchronisation may remove, from 0 to 1.
    var removable = 0.5
    /// The maximum number of pages of one snapshot.
    var pageLimit = 1_000
    /// The maximum number of items of one snapshot.
    var itemLimit = 2_000_000
    /// The maximum number of decompressed bytes of one snapshot.
    var byteLimit = 1 << 30
    /// The timeout for one page.
    var deadline: Duration = .seconds(300)

    /// Creates a source with the default limits and intervals. ``isName(_:)`` states the allowed names.
    init(name: String, url: FetchURL, kind: any ItemKind, items: JSONPointer) {
        self.name = name
        self.url = url
        self.kind = kind
        self.items = items
    }

    /// Returns true if a text is a valid name: 1 to ``nameLimit`` lower-case letters, digits and hyphens, without a hyphen at the start.
    ///
    /// ```swift
    /// RemoteSource.isName("news-2")  // true
    /// RemoteSource.isName("News")  // false
    /// ```
    static func isName(_ text: String) -> Bool {
        (1...nameLimit).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }

    /// The address for messages: without its query, which often contains keys.
    var shownURL: String { url.withoutQuery }
}
