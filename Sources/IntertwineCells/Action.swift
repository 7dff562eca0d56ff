public import IntertwineJSON

/// An action that a client performs for a slot of a cell.
public enum Action: Sendable, Hashable {
    /// Fills the named parts of the cell.
    case bind([CellBinding])
    /// Sends an HTTP request.
    ///
    /// If `templated` is true, `href` is a URI template (RFC 6570) whose variables the client fills in. The client sends `body` unchanged.
    /// If `input` (a JSON Schema) is present instead, the client builds a body that is valid against the schema.
    /// If `viewable` is present, the client sends the request after the stated share of the cell was visible for the stated seconds.
    case request(
        method: String, href: String, templated: Bool = false, body: JSONValue? = nil, input: JSONValue? = nil,
        viewable: JSONValue? = nil)
    /// Opens a link.
    case link(href: String)
    /// An action of a custom command. Its members follow `type` in JSON.
    case custom(type: String, members: [JSONValue.Member])
}

/// A screen that the client shows.
public struct Presentation: Sendable, Hashable {
    /// The presentation style, such as `push`.
    public var type: String
    public var screen: String
    public var arguments: [Argument]

    public struct Argument: Sendable, Hashable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(type: String = "push", screen: String, arguments: [Argument]) {
        self.type = type
        self.screen = screen
        self.arguments = arguments
    }

    /// Returns the screen with the enlarged image of a user.
    public static func imageZoom(username: String, image: String) -> Presentation {
        Presentation(screen: "ImageZoom", arguments: [Argument("username", username), Argument("image", image)])
    }
}
