/// The kind and id of an item that a campaign shows as an ad.
package struct CreativeID: Sendable, Hashable {
    package var kind: String
    package var id: String

    package init(kind: String, id: String) {
        (self.kind, self.id) = (kind, id)
    }

    package init(_ item: FeedItem) { self.init(kind: item.kind, id: item.id) }
}
