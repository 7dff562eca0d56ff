internal import IntertwinePrimitives

package struct Advertisement: Sendable, Hashable {
    package static let kind = "ad"

    package enum Variant: String, Sendable, Hashable, CaseIterable {
        case image, video, audio
    }

    package var id: String
    var contentURL: String
    var clickthroughURL: String
    package var variant: Variant
    var posterURL: String?
    package var mediaType: String?
    /// The duration of the media, in seconds.
    package var duration: Double?
    package var alternative: String?

    package init(
        id: String, contentURL: String, clickthroughURL: String, variant: Variant, posterURL: String? = nil, mediaType: String? = nil,
        duration: Double? = nil, alternative: String? = nil
    ) {
        self.id = id
        self.contentURL = contentURL
        self.clickthroughURL = clickthroughURL
        self.variant = variant
        self.posterURL = posterURL
        self.mediaType = mediaType
        self.duration = duration
        self.alternative = alternative
    }
}

extension Advertisement {
    /// The maximum length of the name of an advertiser, in bytes.
    static let advertiserLimit = 200
    /// The maximum length of a MIME type, in bytes (RFC 6838 §4.2).
    fileprivate static let mediaTypeLimit = 127
    fileprivate static let mediaTypePattern = "^(image|video|audio)/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$"
    fileprivate static let duration = FieldDeclaration("duration", .number, minimum: 0.1, maximum: 86_400)

    package init(item: FeedItem) throws(ItemError) {
        guard let variant = Variant(rawValue: item.variant) else { throw ItemError(field: "type", reason: "is unknown") }
        let fields = try ItemFields(item.body)
        func text(_ bytes: ArraySlice<UInt8>?) -> String? { bytes.map { String(decoding: $0, as: UTF8.self) } }
        self.init(
            id: item.id,
            contentURL: String(decoding: try fields.url("contentUrl"), as: UTF8.self),
            clickthroughURL: String(decoding: try fields.url("clickthroughUrl"), as: UTF8.self),
            variant: variant, posterURL: text(try fields.optionalURL("posterUrl")),
            mediaType: text(try Self.mediaType(in: fields)),
            duration: text(try Self.duration.value(in: fields)).flatMap { Double($0) },
            alternative: try fields.alternative("alt"))
    }

    fileprivate static func mediaType(in fields: ItemFields) throws(ItemError) -> ArraySlice<UInt8>? {
        guard let type = try fields.optionalText("mediaType", limit: mediaTypeLimit) else { return nil }
        let parts = type.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        func isAlphanumeric(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 || byte &- UInt8(ascii: "0") <= 9 }
        guard parts.count == 2, Variant.allCases.contains(where: { parts[0].elementsEqual($0.rawValue.utf8) }),
            let first = parts[1].first, isAlphanumeric(first),
            parts[1].allSatisfy({ isAlphanumeric($0) || "!#$&^_.+-".utf8.contains($0) })
        else {
            throw ItemError(field: "mediaType", reason: "must be a MIME type such as video/mp4 or audio/mpeg, is \(ItemError.quoted(type))")
        }
        return type
    }
}

struct AdvertisementKind: ItemKind {
    /// The maximum length of an id, in bytes.
    static let idLimit = 512

    let name = Advertisement.kind
    let stream = StreamID.advertisements

    var fields: [ItemField]? {
        [
            ItemField("id", isRequired: true) { fields throws(ItemError) in _ = try fields.optionalIdentifier("id", limit: Self.idLimit) },
            ItemField("type", isRequired: true) { fields throws(ItemError) in
                _ = try fields.choice("type", of: Advertisement.Variant.self)
            },
            ItemField("contentUrl", isRequired: true) { fields throws(ItemError) in _ = try fields.url("contentUrl") },
            ItemField("clickthroughUrl", isRequired: true) { fields throws(ItemError) in _ = try fields.url("clickthroughUrl") },
            ItemField("posterUrl") { fields throws(ItemError) in _ = try fields.optionalURL("posterUrl") },
            ItemField("mediaType") { fields throws(ItemError) in _ = try Advertisement.mediaType(in: fields) },
            ItemField("duration") { fields throws(ItemError) in _ = try Advertisement.duration.value(in: fields) },
            ItemField("alt") { fields throws(ItemError) in _ = try fields.alternative("alt") },
            ItemField("advertiser") { fields throws(ItemError) in _ = try Self.advertiser(in: fields) },
            ItemField(Trackers.impressionField) { fields throws(ItemError) in _ = try Trackers(fields) },
            ItemField(Trackers.clickField) { fields throws(ItemError) in _ = try Trackers(fields) },
            HouseField.field,
        ]
    }

    func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        guard let id = try fields.optionalIdentifier("id", limit: Self.idLimit) else {
            throw ItemError(field: "id", reason: "is missing", code: .required)
        }
        let variant = try fields.choice("type", of: Advertisement.Variant.self)
        var body = ItemBody()
        body.append("contentUrl", try fields.url("contentUrl"))
        body.append("clickthroughUrl", try fields.url("clickthroughUrl"))
        body.append("posterUrl", try fields.optionalURL("posterUrl"))
        body.append("mediaType", try Advertisement.mediaType(in: fields))
        body.append("duration", literal: try Advertisement.duration.value(in: fields))
        body.append("alt", try fields.optionalAlternative("alt"))
        body.append("advertiser", try Self.advertiser(in: fields))
        let trackers = try Trackers(fields)
        body.append(Trackers.impressionField, literal: Trackers.literal(trackers.impression))
        body.append(Trackers.clickField, literal: Trackers.literal(trackers.click))
        return ValidatedItem(
            kind: name, stream: stream, id: String(decoding: id, as: UTF8.self), variant: variant.rawValue, body: body.finish())
    }

    func schema() -> [UInt8] {
        var document = ItemSchemaDocument(kind: name)
        document.add("id", .identifier(limit: Self.idLimit), isRequired: true)
        document.add("type", .choice(Advertisement.Variant.allCases.map(\.rawValue)), isRequired: true)
        document.add("contentUrl", .url, isRequired: true)
        document.add("clickthroughUrl", .url, isRequired: true)
        document.add("posterUrl", .url)
        document.add(
            "mediaType",
            FieldSchema(members: [
                .init("type", .text("string")), .init("maxLength", .integer(Int64(Advertisement.mediaTypeLimit))),
                .init("pattern", .text(Advertisement.mediaTypePattern)),
            ]))
        document.add("duration", .number(minimum: Advertisement.duration.minimum, maximum: Advertisement.duration.maximum))
        document.add("alt", .alternative)
        document.add("advertiser", .line(maximum: Advertisement.advertiserLimit))
        document.add(Trackers.impressionField, .trackers)
        document.add(Trackers.clickField, .trackers)
        document.add(HouseField.name, .boolean)
        return document.bytes
    }

    private static func advertiser(in fields: ItemFields) throws(ItemError) -> ArraySlice<UInt8>? {
        guard let name = try fields.optionalText("advertiser", limit: Advertisement.advertiserLimit) else { return nil }
        guard !name.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw ItemError(field: "advertiser", reason: "contains a control character")
        }
        return name
    }
}
