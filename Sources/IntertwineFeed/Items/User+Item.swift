extension User {
    /// Reads a user as the store keeps it.
    ///
    /// - Throws: ``ItemFault`` where the item is of another kind, or was changed behind the store's back.
    public init(item: FeedItem) throws(ItemFault) {
        guard let variant = Variant(rawValue: item.variant) else { throw ItemFault(field: "type", reason: "is unknown") }
        let fields = try ItemFields(item.body)
        self.init(
            id: item.id,
            username: String(decoding: try fields.text("username", limit: UserKind.nameLimit), as: UTF8.self),
            avatarURL: String(decoding: try fields.url("avatarUrl"), as: UTF8.self),
            backgroundURL: try fields.optionalURL("backgroundUrl").map { String(decoding: $0, as: UTF8.self) },
            variant: variant)
    }
}
