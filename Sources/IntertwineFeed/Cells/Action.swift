public import IntertwinePrimitives

/// An action that a client performs for a slot of a cell.
///
/// ```swift
/// let method = "POST"
/// let action: Action = .request(method: method, href: "/cells/note:1/like")
/// ```
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
///
/// ```swift
/// let editor = Presentation(screen: "NoteEditor", arguments: [Presentation.Argument("note", "1")])
/// let style = editor.type  // "push"
/// ```
public struct Presentation: Sendable, Hashable {
    /// The presentation style, such as `push`.
    public var type: String
    /// The name of the screen, such as `ImageZoom`.
    public var screen: String
    /// The arguments of the screen, in the order of the JSON output.
    public var arguments: [Argument]

    /// A named argument of a screen.
    public struct Argument: Sendable, Hashable {
        /// The name of the argument, such as `username`.
        public var name: String
        /// The value of the argument.
        public var value: String

        /// Creates an argument with a name and a value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Creates a presentation, by default in the style `push`.
    public init(type: String = "push", screen: String, arguments: [Argument]) {
        self.type = type
        self.screen = screen
        self.arguments = arguments
    }

    /// Returns the screen with the enlarged image of a user.
    ///
    /// ```swift
    /// let zoom = Presentation.imageZoom(username: "tt", image: "/images/tt.jpg")
    /// let screen = zoom.screen  // "ImageZoom"
    /// ```
    public static func imageZoom(username: String, image: String) -> Presentation {
        Presentation(screen: "ImageZoom", arguments: [Argument("username", username), Argument("image", image)])
    }
}
