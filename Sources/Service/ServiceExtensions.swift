public import Feed

/// What a program that embeds the service adds to it: a kind of item, its cells and its commands are each one type and one line here.
public struct ServiceExtensions: Sendable {
    public var kinds: [any ItemKind]
    public var commands: [any Command]
    /// Registers cell factories; the registry holds all commands by then.
    public var registerCells: @Sendable (inout CellFactories, CommandRegistry) throws -> Void

    public init(
        kinds: [any ItemKind] = [], commands: [any Command] = [],
        registerCells: @escaping @Sendable (inout CellFactories, CommandRegistry) throws -> Void = { _, _ in }
    ) {
        self.kinds = kinds
        self.commands = commands
        self.registerCells = registerCells
    }

    /// The product's own commands and these.
    ///
    /// - Throws: where two have one name.
    func registry() throws -> CommandRegistry {
        var registry = CommandRegistry.standard
        for command in commands { try registry.register(command) }
        return registry
    }
}
