public import IntertwineItems

/// A key that identifies an item: its kind and id.
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
    /// The kind and the id, such as `user:tt`. A long id is truncated.
    public var description: String { ItemError.shown("\(kind):\(id)") }
}

extension ItemKey {
    /// Parses `kind:id`; nil if the kind is unknown or the id is missing.
    public init?(_ text: String, of kinds: ItemKinds) {
        // The text is searched by bytes: a colon and a combining accent at the start of an id are one `Character` in Swift.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let (kind, id) = (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
        guard !id.isEmpty, kinds[kind] != nil else { return nil }
        self.init(kind: kind, id: id)
    }
}
