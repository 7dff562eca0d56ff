package import IntertwineFeed

/// A key that identifies an item: its kind and id.
///
/// ```swift
/// let key = ItemKey(kind: "user", id: "jane")
/// key.description  // "user:jane"
/// ```
package struct ItemKey: Sendable {
    /// The name of the kind, such as `user`.
    package var kind: String
    /// The id of the item, which is unique among the items of its kind.
    package var id: String

    /// Creates a key from a kind and an id. The item need not exist.
    package init(kind: String, id: String) {
        self.kind = kind
        self.id = id
    }

    /// Creates the key of an item.
    package init(_ item: ValidatedItem) {
        self.init(kind: item.kind, id: item.id)
    }
}

extension ItemKey: Hashable {
    /// Returns true if the kinds are equal and the ids consist of equal bytes. Canonical equivalence of Unicode has no effect.
    package static func == (one: ItemKey, other: ItemKey) -> Bool {
        one.kind == other.kind && ByteString(one.id) == ByteString(other.id)
    }

    /// Adds the kind and the bytes of the id to a hasher.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(ByteString(id))
    }
}

extension ItemKey: CustomStringConvertible {
    /// The kind and the id, such as `user:tt`. A long id is truncated.
    package var description: String { ItemError.shown("\(kind):\(id)") }
}

extension ItemKey {
    /// Parses `kind:id`; nil if the kind is unknown or the id is missing.
    ///
    /// ```swift
    /// ItemKey("user:jane", of: .standard)?.id  // "jane"
    /// ItemKey("planet:mars", of: .standard)  // nil
    /// ```
    package init?(_ text: String, of kinds: ItemKinds) {
        // The text is searched by bytes: a colon and a combining accent at the start of an id are one `Character` in Swift.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let (kind, id) = (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
        guard !id.isEmpty, kinds[kind] != nil else { return nil }
        self.init(kind: kind, id: id)
    }
}
