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
