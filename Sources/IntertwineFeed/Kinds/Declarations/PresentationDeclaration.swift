/// The screen that cells of a declared kind open.
public struct PresentationDeclaration: Sendable, Hashable {
    /// How it is shown, such as `push`.
    public var type: String
    public var screen: String
    public var arguments: [BindingDeclaration]

    public init(type: String = "push", screen: String, arguments: [BindingDeclaration]) {
        self.type = type
        self.screen = screen
        self.arguments = arguments
    }
}
