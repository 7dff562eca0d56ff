/// A person in the feed. Regular ones are shown as snapshot cells, featured ones as circular cells.
public struct User: Sendable, Hashable {
    public enum Variant: String, Sendable, Hashable, CaseIterable {
        case regular, featured
    }

    /// Unique; where the import gave none, the username.
    public var id: String
    public var username: String
    public var avatarURL: String
    public var backgroundURL: String?
    public var variant: Variant

    public init(id: String, username: String, avatarURL: String, backgroundURL: String?, variant: Variant) {
        self.id = id
        self.username = username
        self.avatarURL = avatarURL
        self.backgroundURL = backgroundURL
        self.variant = variant
    }
}

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

/// `{"klass":"user","id":"tt","username":"Tongue Twister","avatarUrl":"https://…","backgroundUrl":"https://…","type":"featured"}`
public struct UserKind: ItemKind {
    /// Bytes, of the id and of the username: each can stand for the other.
    public static let nameLimit = 512

    public let name = "user"
    public let lane = Lane.content

    public init() {}

    public var sortFields: [SortField] { [SortField("username", .text)].compactMap { $0 } }

    public var fields: [ItemField]? {
        [
            ItemField("id") { fields throws(ItemFault) in _ = try fields.optionalIdentifier("id", limit: Self.nameLimit) },
            ItemField("type", isRequired: true) { fields throws(ItemFault) in _ = try fields.choice("type", of: User.Variant.self) },
            ItemField("username", isRequired: true) { fields throws(ItemFault) in _ = try fields.text("username", limit: Self.nameLimit) },
            ItemField("avatarUrl", isRequired: true) { fields throws(ItemFault) in _ = try fields.url("avatarUrl") },
            ItemField("backgroundUrl") { fields throws(ItemFault) in _ = try fields.optionalURL("backgroundUrl") },
        ]
    }

    public func validate(_ fields: ItemFields) throws(ItemFault) -> ValidItem {
        let username = try fields.text("username", limit: Self.nameLimit)
        let given = try fields.optionalIdentifier("id", limit: Self.nameLimit)
        let id = if let given { given } else { try ItemFields.identifier(username, in: "username") }
        let variant = try fields.choice("type", of: User.Variant.self)
        var body = ItemBody()
        body.append("username", username)
        body.append("avatarUrl", try fields.url("avatarUrl"))
        body.append("backgroundUrl", try fields.optionalURL("backgroundUrl"))
        return ValidItem(
            kind: name, lane: lane, id: String(decoding: id, as: UTF8.self), variant: variant.rawValue, body: body.finish())
    }

    public func schema() -> [UInt8] {
        var document = ItemSchemaDocument(kind: name)
        document.add("id", .identifier(limit: Self.nameLimit))
        document.add("type", .choice(User.Variant.allCases.map(\.rawValue)), isRequired: true)
        document.add("username", .text(maximum: Self.nameLimit), isRequired: true)
        document.add("avatarUrl", .url, isRequired: true)
        document.add("backgroundUrl", .url)
        document.addSubstitute(forIdentifier: "username")
        return document.bytes
    }
}
