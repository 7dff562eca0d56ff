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
