internal import IntertwinePrimitives

/// An item as stored: of any kind, with undecoded fields.
///
/// Only factories know which kinds exist. A factory decodes the ``body`` into its own type, for example `User`.
public struct FeedItem: Sendable, Hashable {
    /// The kind: `user`, `ad`, ….
    public var kind: String
    /// The id, unique among the items of its kind.
    public var id: String
    /// The variant, which the import format calls `type`: `featured`, `image`, …. A factory is registered for a kind and a variant.
    public var variant: String
    /// The position of the item in its stream. Positions are sparse, so that items can be inserted between others.
    public var position: Int64
    /// The sort key, if a field orders the section and the item was read in that order.
    public var sortKey: SortKey?
    /// The fields: one JSON object, UTF-8, validated for its kind at import.
    public var body: [UInt8]
    /// Why a ``DataSource`` chose the item for the viewer, as a text for the viewer; nil or empty without a reason. It becomes the member `reason` of the
    /// cell, and declared kinds can bind it.
    ///
    /// ```swift
    /// var first = FeedItem(stored: "event", id: "1", position: 1)
    /// first.reason = "Because you follow Ada"
    /// ```
    public var reason: String?

    /// Creates an item as a store contains it. The fields in `body` are not validated.
    ///
    /// ```swift
    /// let item = FeedItem(
    ///     kind: "note", id: "1", variant: "plain", position: 1_024, body: Array(#"{"text":"Buy leeks"}"#.utf8))
    /// let text = try ItemFields(item.body).text("text", limit: 1_000)
    /// ```
    public init(kind: String, id: String, variant: String, position: Int64, sortKey: SortKey? = nil, body: [UInt8]) {
        self.kind = kind
        self.id = id
        self.variant = variant
        self.position = position
        self.sortKey = sortKey
        self.body = body
    }

    /// Creates the place of an item of the store in a ``DataSource``. The service reads the item itself, and omits it if it does not exist.
    ///
    /// ```swift
    /// let first = FeedItem(stored: "user", id: "tt", position: 1)
    /// ```
    public init(stored kind: String, id: String, position: Int64) {
        self.init(kind: kind, id: id, variant: "", position: position, body: [])
    }

    /// The kind and the variant.
    public var type: ItemType { ItemType(kind: kind, variant: variant) }

    var isStored: Bool { body.isEmpty }

    /// The member of a body that has the reason, which no field has.
    static let reasonName = ".reason"
    /// The characters of a reason that cells bind: fewer than a text may have.
    private static let reasonLimit = 1_000

    /// Returns the item with a reason in its body, from which cells bind it.
    func showing(_ reason: String) -> FeedItem {
        var writer = JSONWriter(capacity: body.count + reason.utf8.count + 16)
        writer.append(body.dropLast() + (body.count > 2 ? [UInt8(ascii: ",")] : []))
        writer.write(Self.reasonName)
        writer.raw(":")
        writer.write(String(reason.unicodeScalars.prefix(Self.reasonLimit)))
        writer.raw("}")
        var item = self
        item.body = writer.bytes
        return item
    }

    func placed(in snapshot: any FeedSnapshot) throws -> FeedItem? {
        var found = try snapshot.item(kind: kind, id: id)
        found?.position = position
        return found
    }
}

/// A kind with a variant, for which one factory makes cells, such as an ad of type `image`.
///
/// ```swift
/// let image = ItemType(kind: "ad", variant: "image")
/// let ads = try snapshot.items(RowQuery(.type(image), limit: 10))
/// ```
public struct ItemType: Sendable, Hashable {
    /// The kind, such as `ad`.
    public var kind: String
    /// The variant, such as `image`; empty for section headers.
    public var variant: String

    /// Creates the type of the items of a kind with a variant.
    public init(kind: String, variant: String) {
        self.kind = kind
        self.variant = variant
    }
}

/// The stream that an item belongs to: content, which is paginated, or advertisements, which are merged into it.
///
/// The store keeps the items of each section in a stream of its own, with a number that the store assigns. ``content`` is the section for all
/// kinds that no other section contains.
public struct StreamID: RawRepresentable, Sendable, Hashable {
    /// The stream of the content that belongs to no other section.
    public static let content = StreamID(rawValue: 0)
    /// The stream of advertisements.
    public static let advertisements = StreamID(rawValue: 1)

    /// The number of the stream in the store.
    public let rawValue: Int64

    /// Creates the stream with a number that the store assigned.
    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

/// An item that its kind has validated, ready for the store and without a position.
public struct ValidatedItem: Sendable, Hashable {
    /// The kind, such as `user`.
    public var kind: String
    /// The stream of the item.
    public var stream: StreamID
    /// The id, unique among the items of its kind.
    public var id: String
    /// The variant, such as `featured`.
    public var variant: String
    /// The fields that the kind knows, except `kind`, `id` and `type`, as one JSON object with equal bytes for equal items.
    public var body: [UInt8]

    /// Creates an item whose fields are valid. The initialiser validates nothing.
    ///
    /// ```swift
    /// let title = try fields.text("title", limit: 200)
    /// var body = ItemBody()
    /// body.append("title", title)
    /// let item = ValidatedItem(kind: "note", stream: .content, id: "1", variant: "plain", body: body.finish())
    /// ```
    public init(kind: String, stream: StreamID, id: String, variant: String, body: [UInt8]) {
        self.kind = kind
        self.stream = stream
        self.id = id
        self.variant = variant
        self.body = body
    }
}
