/// One piece of content as the store keeps it: any kind, with its fields not yet interpreted.
///
/// Nothing below the factories knows which kinds exist. A factory turns the ``body`` into its own type, for example `User`.
public struct FeedItem: Sendable, Hashable {
    /// The kind, which the import format calls `klass`: `user`, `advertisement`, ….
    public var kind: String
    /// Unique among the items of its kind.
    public var id: String
    /// What the import format calls `type`: `featured`, `image`, …. A factory is registered for a kind and a variant.
    public var variant: String
    /// Where the item stands in the order of its lane. Keys are sparse, so that items can be put between others.
    public var position: Int64
    /// What its section is ordered by, where that is a field and the item was read in that order.
    public var sortKey: SortKey?
    /// The fields: one JSON object, UTF-8, valid for its kind since it was imported.
    public var body: [UInt8]

    public init(kind: String, id: String, variant: String, position: Int64, sortKey: SortKey? = nil, body: [UInt8]) {
        self.kind = kind
        self.id = id
        self.variant = variant
        self.position = position
        self.sortKey = sortKey
        self.body = body
    }
}

/// A kind together with a variant of it: what one factory makes cells for, such as an advertisement of type `image`.
public struct ItemType: Sendable, Hashable {
    public var kind: String
    public var variant: String

    public init(kind: String, variant: String) {
        self.kind = kind
        self.variant = variant
    }
}

/// Which stream of the feed an item belongs to: content that is paged, or the advertisements that are intertwined with it.
///
/// The store keeps each section's items in a lane of its own, numbered as the store likes; ``content`` is the section of everything that
/// no other section takes.
public struct StreamID: RawRepresentable, Sendable, Hashable {
    public static let content = StreamID(rawValue: 0)
    public static let advertisements = StreamID(rawValue: 1)

    public let rawValue: Int64

    public init(rawValue: Int64) {
        self.rawValue = rawValue
    }
}

/// An item that its kind found valid, as the store takes it: not yet at any position.
public struct ValidatedItem: Sendable, Hashable {
    public var kind: String
    public var stream: StreamID
    /// Unique among the items of its kind.
    public var id: String
    public var variant: String
    /// The fields that the kind knows, but for `klass`, `id` and `type`, as one JSON object whose bytes are equal for equal items.
    public var body: [UInt8]

    public init(kind: String, stream: StreamID, id: String, variant: String, body: [UInt8]) {
        self.kind = kind
        self.stream = stream
        self.id = id
        self.variant = variant
        self.body = body
    }
}
