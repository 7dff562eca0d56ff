/// An action that a client performs for a slot of a cell.
public enum Action: Sendable, Hashable {
    /// Fills the named parts of the cell.
    case bind([Binding])
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

/// A value for one part of a cell.
///
/// In JSON, a value is an object whose member `type` tells which other members it has: `{"type":"text","text":"Swing"}`.
public struct Binding: Sendable, Hashable {
    public enum Value: Sendable, Hashable {
        case text(String)
        /// An image. Why indirect: the data of an image is large, and binding values are copied often.
        indirect case image(ImageBinding)
        /// A date, or a date with time and offset (RFC 3339).
        case date(String)
        case number(Double)
        /// A whole number. Its type in JSON is `number`, too.
        case integer(Int64)
        /// The absolute URL that a part of the cell links to.
        case link(String)
        /// The absolute URL of the media that a part of the cell plays.
        case media(String)
        /// A value of a custom type. Its members follow `type` in JSON.
        case custom(type: String, members: [JSONValue.Member])

        /// Returns an image value with an `href` and no metadata.
        public static func image(_ href: String) -> Value { .image(ImageBinding(href)) }
    }

    /// The name of the part, such as `avatar`.
    public var part: String
    public var value: Value

    public init(_ part: String, _ value: Value) {
        self.part = part
        self.value = value
    }

    /// Creates a binding of a text.
    public init(_ part: String, _ text: String) {
        self.init(part, .text(text))
    }
}

/// A JSON value whose object members keep their order.
public indirect enum JSONValue: Sendable, Hashable {
    case text(String)
    case integer(Int64)
    /// A number. JSON output contains null if the number is not finite.
    case number(Double)
    case flag(Bool)
    case null
    case list([JSONValue])
    case object([Member])

    public struct Member: Sendable, Hashable {
        public var name: String
        public var value: JSONValue

        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
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
