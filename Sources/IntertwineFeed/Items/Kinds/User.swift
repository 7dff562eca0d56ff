package struct User: Sendable, Hashable {
    package enum Variant: String, Sendable, Hashable, CaseIterable {
        case regular, featured
    }

    package var id: String
    package var username: String
    var avatarURL: String
    var backgroundURL: String?
    package var variant: Variant
    var avatarAlternative: String?
    var backgroundAlternative: String?

    package init(
        id: String, username: String, avatarURL: String, backgroundURL: String?, variant: Variant, avatarAlternative: String? = nil,
        backgroundAlternative: String? = nil
    ) {
        self.id = id
        self.username = username
        self.avatarURL = avatarURL
        self.backgroundURL = backgroundURL
        self.variant = variant
        self.avatarAlternative = avatarAlternative
        self.backgroundAlternative = backgroundAlternative
    }
}

extension User {
    package init(item: FeedItem) throws(ItemError) {
        guard let variant = Variant(rawValue: item.variant) else { throw ItemError(field: "type", reason: "is unknown") }
        let fields = try ItemFields(item.body)
        self.init(
            id: item.id,
            username: String(decoding: try fields.text("username", limit: UserKind.nameLimit), as: UTF8.self),
            avatarURL: String(decoding: try fields.url("avatarUrl"), as: UTF8.self),
            backgroundURL: try fields.optionalURL("backgroundUrl").map { String(decoding: $0, as: UTF8.self) },
            variant: variant, avatarAlternative: try fields.alternative("avatarAlt"),
            backgroundAlternative: try fields.alternative("backgroundAlt"))
    }
}

package struct UserKind: ItemKind {
    /// The maximum length of the id and of the username, in bytes. Why one limit: each of the two can replace the other.
    package static let nameLimit = 512

    package let name = "user"
    package let stream = StreamID.content

    package init() {}

    package var sortFields: [SortField] { [SortField("username", .text)].compactMap { $0 } }

    package var fields: [ItemField]? {
        [
            ItemField("id") { fields throws(ItemError) in _ = try fields.optionalIdentifier("id", limit: Self.nameLimit) },
            ItemField("type", isRequired: true) { fields throws(ItemError) in _ = try fields.choice("type", of: User.Variant.self) },
            ItemField("username", isRequired: true) { fields throws(ItemError) in _ = try fields.text("username", limit: Self.nameLimit) },
            ItemField("avatarUrl", isRequired: true) { fields throws(ItemError) in _ = try fields.url("avatarUrl") },
            ItemField("backgroundUrl") { fields throws(ItemError) in _ = try fields.optionalURL("backgroundUrl") },
            ItemField("avatarAlt") { fields throws(ItemError) in _ = try fields.alternative("avatarAlt") },
            ItemField("backgroundAlt") { fields throws(ItemError) in _ = try fields.alternative("backgroundAlt") },
        ]
    }

    package func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        let username = try fields.text("username", limit: Self.nameLimit)
        let explicit = try fields.optionalIdentifier("id", limit: Self.nameLimit)
        let id = if let explicit { explicit } else { try ItemFields.identifier(username, in: "username") }
        let variant = try fields.choice("type", of: User.Variant.self)
        var body = ItemBody()
        body.append("username", username)
        body.append("avatarUrl", try fields.url("avatarUrl"))
        body.append("backgroundUrl", try fields.optionalURL("backgroundUrl"))
        for name in ["avatarAlt", "backgroundAlt"] { body.append(name, try fields.optionalAlternative(name)) }
        return ValidatedItem(
            kind: name, stream: stream, id: String(decoding: id, as: UTF8.self), variant: variant.rawValue, body: body.finish())
    }

    package func schema() -> [UInt8] {
        var document = ItemSchemaDocument(kind: name)
        document.add("id", .identifier(limit: Self.nameLimit))
        document.add("type", .choice(User.Variant.allCases.map(\.rawValue)), isRequired: true)
        document.add("username", .text(maximum: Self.nameLimit), isRequired: true)
        document.add("avatarUrl", .url, isRequired: true)
        document.add("backgroundUrl", .url)
        document.add("avatarAlt", .alternative)
        document.add("backgroundAlt", .alternative)
        document.addSubstitute(forIdentifier: "username")
        return document.bytes
    }
}
