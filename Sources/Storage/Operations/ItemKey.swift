public import Feed

/// What tells one item from all others.
public struct ItemKey: Sendable, Hashable {
    public var kind: String
    public var id: String

    public init(kind: String, id: String) {
        self.kind = kind
        self.id = id
    }

    public init(_ item: ValidItem) {
        self.init(kind: item.kind, id: item.id)
    }
}

extension ItemKey: CustomStringConvertible {
    /// `user:tt`; of a long id the beginning.
    public var description: String { ItemFault.shown("\(kind):\(id)") }
}
