/// An advertisement. Image advertisements are intertwined with the content; video and audio are stored until a factory for them exists.
package struct Advertisement: Sendable, Hashable {
    package enum Variant: String, Sendable, Hashable, CaseIterable {
        case image, video, audio
    }

    /// Unique; numbers are kept in their decimal form.
    package var id: String
    package var contentURL: String
    package var clickthroughURL: String
    package var variant: Variant
    /// What is told of the picture to those who do not see it.
    package var alternative: String?

    package init(id: String, contentURL: String, clickthroughURL: String, variant: Variant, alternative: String? = nil) {
        self.id = id
        self.contentURL = contentURL
        self.clickthroughURL = clickthroughURL
        self.variant = variant
        self.alternative = alternative
    }
}

extension Advertisement {
    /// Reads an advertisement as the store keeps it.
    ///
    /// - Throws: ``ItemFault`` where the item is of another kind, or was changed behind the store's back.
    package init(item: FeedItem) throws(ItemFault) {
        guard let variant = Variant(rawValue: item.variant) else { throw ItemFault(field: "type", reason: "is unknown") }
        let fields = try ItemFields(item.body)
        self.init(
            id: item.id,
            contentURL: String(decoding: try fields.url("contentUrl"), as: UTF8.self),
            clickthroughURL: String(decoding: try fields.url("clickthroughUrl"), as: UTF8.self),
            variant: variant, alternative: try fields.alternative("alt"))
    }
}

/// `{"klass":"advertisement","id":1,"contentUrl":"https://…","clickthroughUrl":"https://…","type":"image"}`
package struct AdvertisementKind: ItemKind {
    /// Bytes.
    package static let idLimit = 512

    package let name = "advertisement"
    package let lane = Lane.advertisements

    package init() {}

    package var fields: [ItemField]? {
        [
            ItemField("id", isRequired: true) { fields throws(ItemFault) in _ = try fields.optionalIdentifier("id", limit: Self.idLimit) },
            ItemField("type", isRequired: true) { fields throws(ItemFault) in
                _ = try fields.choice("type", of: Advertisement.Variant.self)
            },
            ItemField("contentUrl", isRequired: true) { fields throws(ItemFault) in _ = try fields.url("contentUrl") },
            ItemField("clickthroughUrl", isRequired: true) { fields throws(ItemFault) in _ = try fields.url("clickthroughUrl") },
            ItemField("alt") { fields throws(ItemFault) in _ = try fields.alternative("alt") },
        ]
    }

    package func validate(_ fields: ItemFields) throws(ItemFault) -> ValidItem {
        guard let id = try fields.optionalIdentifier("id", limit: Self.idLimit) else { throw ItemFault(field: "id", reason: "is missing") }
        let variant = try fields.choice("type", of: Advertisement.Variant.self)
        var body = ItemBody()
        body.append("contentUrl", try fields.url("contentUrl"))
        body.append("clickthroughUrl", try fields.url("clickthroughUrl"))
        body.append("alt", try fields.optionalAlternative("alt"))
        return ValidItem(
            kind: name, lane: lane, id: String(decoding: id, as: UTF8.self), variant: variant.rawValue, body: body.finish())
    }

    package func schema() -> [UInt8] {
        var document = ItemSchemaDocument(kind: name)
        document.add("id", .identifier(limit: Self.idLimit), isRequired: true)
        document.add("type", .choice(Advertisement.Variant.allCases.map(\.rawValue)), isRequired: true)
        document.add("contentUrl", .url, isRequired: true)
        document.add("clickthroughUrl", .url, isRequired: true)
        document.add("alt", .alternative)
        return document.bytes
    }
}
