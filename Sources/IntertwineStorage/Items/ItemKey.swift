public import IntertwineFeed

/// What tells one item from all others.
public struct ItemKey: Sendable {
    public var kind: String
    public var id: String

    public init(kind: String, id: String) {
        self.kind = kind
        self.id = id
    }

    public init(_ item: ValidatedItem) {
        self.init(kind: item.kind, id: item.id)
    }
}

extension ItemKey: Hashable {
    public static func == (one: ItemKey, other: ItemKey) -> Bool {
        one.kind == other.kind && ByteString(one.id) == ByteString(other.id)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(ByteString(id))
    }
}

extension ItemKey: CustomStringConvertible {
    /// `user:tt`; of a long id the beginning.
    public var description: String { ItemError.shown("\(kind):\(id)") }
}

extension ItemKey {
    /// Reads `klass:id`; nil where there is no such kind, or no id.
    public init?(_ text: String, of kinds: ItemKinds) {
        // By bytes: a colon and the accent that an id may begin with are one character to Swift.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let (kind, id) = (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
        guard !id.isEmpty, kinds[kind] != nil else { return nil }
        self.init(kind: kind, id: id)
    }
}
