/// Fills a cell with its content. The client's alone.
public struct BindCommand: Command {
    public let name = "bind"
    public var bindings: [Binding]

    public init(_ bindings: [Binding]) {
        self.bindings = bindings
    }

    public func action(for subject: CommandSubject) -> Action? {
        .bind(bindings)
    }
}
