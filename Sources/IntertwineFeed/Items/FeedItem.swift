/// One piece of content as the store keeps it: any kind, with its fields not yet interpreted.
///
/// Nothing below the factories knows which kinds exist. A factory turns the ``body`` into its own type, for example ``User``.
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
