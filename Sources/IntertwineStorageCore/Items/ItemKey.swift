package import IntertwineFeed

package struct ItemKey: Sendable {
    package var kind: String
    package var id: String

    package init(kind: String, id: String) {
        self.kind = kind
        self.id = id
    }

    package init(_ item: ValidatedItem) {
        self.init(kind: item.kind, id: item.id)
    }
}

extension ItemKey: Hashable {
    package static func == (one: ItemKey, other: ItemKey) -> Bool {
        one.kind == other.kind && ByteString(one.id) == ByteString(other.id)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        hasher.combine(ByteString(id))
    }
}

extension ItemKey: CustomStringConvertible {
    package var description: String { ItemError.shown("\(kind):\(id)") }
}

extension ItemKey {
    package init?(_ text: String, of kinds: ItemKinds) {
        // The text is searched by bytes: a colon and a combining accent at the start of an id are one `Character` in Swift.
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let (kind, id) = (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
        guard !id.isEmpty, kinds[kind] != nil else { return nil }
        self.init(kind: kind, id: id)
    }
}
