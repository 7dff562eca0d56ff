/// What the feed serves for an item: which registered cell shows it, how large, and what can be done with it.
///
/// One lookup serves every interaction, whatever the kind of cell: `viewModel.commands[slot]?.perform(in: &context)`.
public struct CellViewModel: Sendable {
    /// Unique within a response and stable across requests, such as `user:tt`, or `user:tt#photos` for a companion.
    public var id: String
    /// The reuse identifier under which clients register a cell class.
    public var identifier: String
    /// Of what it binds, among the cells of its identifier.
    public var version = 1
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

    /// What people are told that a slot does, in the language of who asks.
    func label(of slot: CommandKey) -> String? {
        commands.labels.isEmpty ? nil : commands.labels[slot]?[subject.context.language]
    }

    /// The same for one of the slots besides the configuration.
    func label(at index: Int) -> String? { commands.labels.isEmpty ? nil : label(of: commands.slot(at: index).key) }

    /// What a client is told about a slot, or nil where it has nothing to do there.
    ///
    /// A command that acts for a viewer is not offered where there is none; but a link stays that leads to a destination beside it: whoever
    /// follows it gets there, and only what acts for a viewer is not done.
    public func action(in slot: CommandKey) -> Action? { commands[slot].flatMap { action(of: $0) } }

    /// What a client is told about a slot that a command stands in.
    func action(of command: any Command) -> Action? {
        guard let action = command.action(for: subject) else { return nil }
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

/// How large a cell is: one size for everyone, or a share of the client's width for those who tell it.
public struct SizeRule: Sendable, Hashable {
    /// The width, in points, for which cells are laid out that grow with the client where it does not tell its own.
    public static let usualWidth = 320.0
    /// What a client may call its width, in points.
    public static let widths = 1...10_000

    /// The size where the client does not tell its width.
    public var size: CellSize
    /// The share of the client's width; nil where the size is the same for all.
    public var fraction: Double?
    /// Width by height. Nil where the height stays as it is.
    public var aspectRatio: Double?
    /// Points. Neither bound makes a cell wider than its client.
    public var minimum: Double?
    public var maximum: Double?

    public init(_ size: CellSize, fraction: Double? = nil, aspectRatio: Double? = nil, minimum: Double? = nil, maximum: Double? = nil) {
        self.size = size
        self.fraction = fraction
        self.aspectRatio = aspectRatio
        self.minimum = minimum
        self.maximum = maximum
    }

    /// A row of a table: as wide as the table, and of one height.
    public static func row(height: Double) -> SizeRule {
        SizeRule(CellSize(width: usualWidth, height: height), fraction: 1)
    }

    /// The size in whole points for a client of a width.
    ///
    /// - Parameter width: of the client, in points; nil where it is not known.
    public func size(width: Int?) -> CellSize {
        guard let width, let fraction else { return size }
        let client = Double(width)
        let bounded = min(max(client * fraction, minimum ?? 0), maximum ?? .infinity, client)
        let cell = max(1, bounded.rounded())
        return CellSize(width: cell, height: aspectRatio.map { max(1, (cell / $0).rounded()) } ?? size.height)
    }
}
