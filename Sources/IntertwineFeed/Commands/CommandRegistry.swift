/// The commands that configuration can name. A new command is one type and one registration.
public struct CommandRegistry: Sendable {
    private var commands: [String: any Command] = [:]
    /// What composites come down to, where it has no registration of its own: the ledger knows performances by these names.
    private var components: [String: any UndoableCommand] = [:]

    /// Knows no commands.
    public init() {}

    /// The commands that the product comes with.
    public static var standard: CommandRegistry {
        var registry = CommandRegistry()
        let commands: [any Command] = [
            AnalyticsCommand(), PresentCommand(), ClickthroughCommand(), DismissCommand(), SaveCommand(), RestoreCommand(),
            UnsaveCommand(),
            RequestCommand(name: "cancel-images", target: .imageRequests),
        ]
        for command in commands { registry.commands[command.name] = command }
        return registry
    }

    /// - Throws: ``CellCommandsError/registeredTwice(_:)`` where the name is taken.
    public mutating func register(_ command: any Command) throws(CellCommandsError) {
        guard commands[command.name] == nil else { throw .registeredTwice(command.name) }
        commands[command.name] = command
        guard command.components != nil else { return }
        for leaf in command.leaves { components[leaf.name] = components[leaf.name] ?? leaf.undoing }
    }

    public subscript(name: String) -> (any Command)? {
        commands[name]
    }

    /// What takes back the performances of a command; nil where nothing can.
    func undoing(_ name: String) -> (any UndoableCommand)? {
        commands[name].map(\.undoing) ?? components[name]
    }

    /// All names, sorted.
    public var names: [String] { commands.keys.sorted() }
}
