/// What a client is told about a slot of a cell.
public enum Action: Sendable, Hashable {
    /// Fill the named parts of the cell.
    case bind([Binding])
    /// Send a request. Where `templated`, the href is a URI template (RFC 6570) whose variables the client fills in. The body is sent as it
    /// stands there; where there is `input` instead, a JSON Schema, the client makes a body that it admits.
    /// Where it is `viewable`, it is sent once the cell was seen: a share of it for some seconds.
    case request(
        method: String, href: String, templated: Bool = false, body: JSONValue? = nil, input: JSONValue? = nil,
        viewable: JSONValue? = nil)
    /// Open a link.
    case link(href: String)
    /// What a custom command tells its clients; the members come after `type`.
    case custom(type: String, members: [JSONValue.Member])
}

/// What one part of a cell is filled with.
public struct Binding: Sendable, Hashable {
    public enum Value: Sendable, Hashable {
        case text(String)
        /// In memory of its own: what a picture is told by is large, and values are handed on.
        indirect case image(ImageBinding)
        /// A value of a type that a configured kind brings, such as `date`.
        case custom(type: String, JSONValue)

        /// A picture of which nothing is known but its href.
        public static func image(_ href: String) -> Value { .image(ImageBinding(href)) }
    }

    /// The part's name, such as `avatar`.
    public var part: String
    public var value: Value

    public init(_ part: String, _ value: Value) {
        self.part = part
        self.value = value
    }
}

/// A JSON value whose members keep their order.
public indirect enum JSONValue: Sendable, Hashable {
    case text(String)
    case integer(Int64)
    /// Written as null where it is not finite.
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

/// A screen that the client is to show.
public struct Presentation: Sendable, Hashable {
    /// How it is shown, such as `push`.
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

    /// The zoomed picture of a user.
    public static func imageZoom(username: String, image: String) -> Presentation {
        Presentation(screen: "ImageZoom", arguments: [Argument("username", username), Argument("image", image)])
    }
}
