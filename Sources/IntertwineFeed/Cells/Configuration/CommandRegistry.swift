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
    private var components: [String: any Command] = [:]

    /// Creates an empty registry.
    public init() {}

    /// A registry with the built-in commands.
    ///
    /// ```swift
    /// let names = CommandRegistry.standard.names
    /// // ["analytics", "cancel-images", "clickthrough", "dismiss", "follow", "mute", "present", "restore", …]
    /// ```
    public static var standard: CommandRegistry {
        var registry = CommandRegistry()
        let commands: [any Command] = [
            Analytics(), Present(), Clickthrough(), Dismiss(), Save(), ListRemoval.restore, ListRemoval.unsave,
            AuthorCommand.follow, AuthorCommand.mute, ListRemoval.unfollow, ListRemoval.unmute,
            RequestCommand(name: "cancel-images", target: .imageRequests),
        ]
        for command in commands { registry.commands[command.name] = command }
        return registry
    }

    /// Adds a command.
    ///
    /// - Throws: ``CellCommandsError/registeredTwice(_:)`` if the name is already registered.
    public mutating func register(_ command: any Command) throws(CellCommandsError) {
        // A program's own commands replace `follow` and `mute`.
        guard commands[command.name].map({ $0 is AuthorCommand }) ?? true else { throw .registeredTwice(command.name) }
        commands[command.name] = command
        guard command.components != nil else { return }
        for leaf in command.leaves { components[leaf.name] = components[leaf.name] ?? leaf }
    }

    package mutating func add(_ actions: CellActions) throws(CellCommandsError) {
        for command in actions.slots.values.flatMap(\.values) {
            for leaf in command.leaves {
                let known = commands[leaf.name] ?? components[leaf.name]
                guard known.map({ type(of: $0) == type(of: leaf) }) ?? true else { throw .registeredTwice(leaf.name) }
                components[leaf.name] = leaf
            }
        }
    }

    /// The registered command with a name; nil if no command has it.
    ///
    /// ```swift
    /// let registry = CommandRegistry.standard
    /// let undoing = registry["save"]?.undoing?.name  // "save"
    /// ```
    public subscript(name: String) -> (any Command)? {
        commands[name] ?? Self.listCommand(name)
    }

    /// The commands of lists that kinds declare. Their names have a colon, which no other name has.
    private static func listCommand(_ name: String) -> (any Command)? {
        let parts = name.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else { return nil }
        return switch parts[0] {
        case "list": ListAddition(list: ViewerList(rawValue: parts[1]))
        case "unlist": ListRemoval.from(ViewerList(rawValue: parts[1]))
        default: nil
        }
    }

    package func undoing(_ name: String) -> (any UndoableCommand)? {
        self[name].map(\.undoing) ?? components[name]?.undoing
    }

    package var refusals: [Refusal] {
        var seen: Set<Refusal> = []
        return all.flatMap(\.refusals).filter { seen.insert($0).inserted }
    }

    package var inputs: [(name: String, fields: [FieldDeclaration])] {
        all.filter { !$0.input.isEmpty }.map { ($0.name, $0.input) }
    }

    package var all: [any Command] { commands.merging(components) { first, _ in first }.sorted { $0.key < $1.key }.map(\.value) }

    /// The names of all commands, sorted.
    public var names: [String] { commands.keys.sorted() }
}
