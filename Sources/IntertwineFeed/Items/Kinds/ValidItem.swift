/// An item that its kind found valid, as the store takes it: not yet at any position.
public struct ValidItem: Sendable, Hashable {
    public var kind: String
    public var lane: Lane
    /// Unique among the items of its kind.
    public var id: String
    public var variant: String
    /// The fields that the kind knows, but for `klass`, `id` and `type`, as one JSON object whose bytes are equal for equal items.
    public var body: [UInt8]

    public init(kind: String, lane: Lane, id: String, variant: String, body: [UInt8]) {
        self.kind = kind
        self.lane = lane
        self.id = id
        self.variant = variant
        self.body = body
    }
}
