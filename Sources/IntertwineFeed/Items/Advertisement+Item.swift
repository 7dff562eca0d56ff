extension Advertisement {
    /// Reads an advertisement as the store keeps it.
    ///
    /// - Throws: ``ItemFault`` where the item is of another kind, or was changed behind the store's back.
    public init(item: FeedItem) throws(ItemFault) {
        guard let variant = Variant(rawValue: item.variant) else { throw ItemFault(field: "type", reason: "is unknown") }
        let fields = try ItemFields(item.body)
        self.init(
            id: item.id,
            contentURL: String(decoding: try fields.url("contentUrl"), as: UTF8.self),
            clickthroughURL: String(decoding: try fields.url("clickthroughUrl"), as: UTF8.self),
            variant: variant)
    }
}
