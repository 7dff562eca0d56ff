/// A registry of the commands that configuration can name.
///
/// A new command requires one type and one registration:
///
/// ```swift
/// var registry = CommandRegistry.standard
/// try registry.register(MuteCommand())
/// ```
public struct CommandRegistry: Sendable {
    private var commands: [String: any Command] = [:]
    /// The undoable components of composites without a registration of their own, by name. The ledger stores performances under these names.
    private var components: [String: any UndoableCommand] = [:]

    /// Creates an empty registry.
    public init() {}

    /// A registry with the built-in commands.
    public static var standard: CommandRegistry {
        var registry = CommandRegistry()
        let commands: [any Command] = [
            AnalyticsCommand(), PresentCommand(), ClickthroughCommand(), ListCommand.dismiss, ListCommand.save,
            ListCommand.restore, ListCommand.unsave,
            RequestCommand(name: "cancel-images", target: .imageRequests),
        ]
        for command in commands { registry.commands[command.name] = command }
        return registry
    }

    /// Adds a command.
    ///
    /// - Throws: ``CellCommandsError/registeredTwice(_:)`` if the name is already registered.
    public mutating func register(_ command: any Command) throws(CellCommandsError) {
        guard commands[command.name] == nil else { throw .registeredTwice(command.name) }
        commands[command.name] = command
        guard command.components != nil else { return }
        for leaf in command.leaves { components[leaf.name] = components[leaf.name] ?? leaf.undoing }
    }

    public subscript(name: String) -> (any Command)? {
        commands[name]
    }

    /// Returns the command that undoes performances of the given name, or nil if they cannot be undone.
    package func undoing(_ name: String) -> (any UndoableCommand)? {
        commands[name].map(\.undoing) ?? components[name]
    }

    /// The refusals of all commands for the API description, without duplicates.
    package var refusals: [Refusal] {
        var seen: Set<Refusal> = []
        return names.flatMap { commands[$0]?.refusals ?? [] }.filter { seen.insert($0).inserted }
    }

    /// The names of all commands, sorted.
    public var names: [String] { commands.keys.sorted() }
}
