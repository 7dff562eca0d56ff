/// `{"klass":"advertisement","id":1,"contentUrl":"https://…","clickthroughUrl":"https://…","type":"image"}`
public struct AdvertisementKind: ItemKind {
    /// Bytes.
    public static let idLimit = 512

    public let name = "advertisement"
    public let lane = Lane.advertisements

    public init() {}

    public func validate(_ fields: ItemFields) throws(ItemFault) -> ValidItem {
        guard let id = try fields.optionalIdentifier("id", limit: Self.idLimit) else { throw ItemFault(field: "id", reason: "is missing") }
        let variant = try fields.choice("type", of: Advertisement.Variant.self)
        var body = ItemBody()
        body.append("contentUrl", try fields.url("contentUrl"))
        body.append("clickthroughUrl", try fields.url("clickthroughUrl"))
        return ValidItem(
            kind: name, lane: lane, id: String(decoding: id, as: UTF8.self), variant: variant.rawValue, body: body.finish())
    }
}
