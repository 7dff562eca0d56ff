/// What the feed serves for an item: which registered cell shows it, how large, and what can be done with it.
///
/// One lookup serves every interaction, whatever the kind of cell: `viewModel.commands[slot]?.perform(in: &context)`.
public struct CellViewModel: Sendable {
    /// Unique within a response and stable across requests, such as `user:tt`, or `user:tt#photos` for a companion.
    public var id: String
    /// The reuse identifier under which clients register a cell class.
    public var identifier: String
    public var size: CellSize
    public var commands: CellCommands
    /// What the commands act on.
    public var subject: CommandSubject

    public init(identifier: String, size: CellSize, commands: CellCommands, subject: CommandSubject) {
        self.id = subject.cell
        self.identifier = identifier
        self.size = size
        self.commands = commands
        self.subject = subject
    }

    /// What a client is told about a slot, or nil where it has nothing to do there.
    ///
    /// A command that acts for a viewer is not offered where there is none; but a link stays that leads to a destination beside it: whoever
    /// follows it gets there, and only what acts for a viewer is not done.
    public func action(in slot: CommandKey) -> Action? {
        guard let command = commands[slot], let action = command.action(for: subject) else { return nil }
        if subject.context.hasViewer || !command.needs.contains(.viewer) { return action }
        if case .link = action, command.needs.contains(.destination) { return action }
        return nil
    }
}

/// A cell's size in points.
public struct CellSize: Sendable, Hashable {
    public var width: Double
    public var height: Double

    public init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }
}
