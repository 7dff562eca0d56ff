public import IntertwineFeed
public import IntertwineFetch
public import IntertwineStorage

/// A JSON API whose items the store is kept in step with.
public struct RemoteSource: Sendable {
    /// How a source is called where it is named: in addresses, metrics and files.
    public static let nameLimit = 64

    /// Lower-case letters, digits and hyphens.
    public var name: String
    /// Of the first page.
    public var url: FetchURL
    /// What all its items are.
    public var kind: any ItemKind
    /// Where an item's fields come from; nil for the members of the same names.
    public var fields: FieldMapping?
    /// Where a page has its list.
    public var items: JSONPointer
    public var next: NextPage = .none
    /// Sent to the origin of ``url`` and to no other.
    public var headers = FetchHeaderFields()
    /// From the end of one synchronisation to the beginning of the next.
    public var interval: Duration = .seconds(300)
    public var policy = BadItemPolicy.stop
    /// How many of the source's items may be removed at once, from 0 to 1.
    public var removable = 0.5
    /// Whether a list of several pages is asked for once more before it counts as one snapshot.
    public var isVerified = true
    /// The most pages of one snapshot.
    public var pageLimit = 1_000
    /// The most items of one snapshot.
    public var itemLimit = 2_000_000
    /// The most bytes of one snapshot, decompressed.
    public var byteLimit = 1 << 30
    /// How long one page may take.
    public var deadline: Duration = .seconds(300)

    public init(name: String, url: FetchURL, kind: any ItemKind, items: JSONPointer) {
        self.name = name
        self.url = url
        self.kind = kind
        self.items = items
    }

    public static func isName(_ text: String) -> Bool {
        (1...nameLimit).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: "-")
            && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }
    }

    /// The address as it may be shown: without its query, where keys are often kept.
    public var shownURL: String {
        url.text.firstIndex(of: "?").map { url.text[..<$0] + "?…" } ?? url.text
    }
}
