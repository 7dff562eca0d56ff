package struct CreativeID: Sendable, Hashable {
    package var kind: String
    package var id: String

    package init(kind: String, id: String) {
        (self.kind, self.id) = (kind, id)
    }

    package init(_ item: FeedItem) { self.init(kind: item.kind, id: item.id) }

    package static func == (one: CreativeID, other: CreativeID) -> Bool {
        ByteString(one.id) == ByteString(other.id) && ByteString(one.kind) == ByteString(other.kind)
    }

    package func hash(into hasher: inout Hasher) {
        ByteString(kind).hash(into: &hasher)
        ByteString(id).hash(into: &hasher)
    }
}
