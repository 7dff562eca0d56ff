/// The server's representation of a cell: its identifier, its size and its commands.
///
/// All interactions use one lookup, independent of the kind of cell: `viewModel.commands[slot]?.perform(in: &context)`.
///
/// ```swift
/// let viewModel = CellViewModel(
///     identifier: "NoteCollectionViewCell", size: CellSize(width: 300, height: 80),
///     commands: [.configuration: BindCommand([CellBinding("text", .text("Buy leeks"))]), .selection: MuteCommand()],
///     subject: CommandSubject(cell: "note:1", item: item, context: context))
/// ```
public struct CellViewModel: Sendable {
    /// The id, unique within a response and stable across requests, such as `user:tt`, or `user:tt#photos` for a companion.
    public var id: String
    /// The reuse identifier under which clients register a cell class.
    public var identifier: String
    /// The version of the bindings, for cells with one identifier.
    public var version = 1
    var isAdvertisement = false
    package var primary: String?
    /// The size of the cell for the width of the client.
    public var size: CellSize
    /// The commands of the cell by slot.
    public var commands: CellCommands
    /// The item, cell and context that the commands act on.
    public var subject: CommandSubject

    /// Creates a view model with version 1 and the cell id of `subject`.
    public init(identifier: String, size: CellSize, commands: CellCommands, subject: CommandSubject) {
        self.id = subject.cell
        self.identifier = identifier
        self.size = size
        self.commands = commands
        self.subject = subject
    }

    package func label(of slot: CommandKey) -> String? {
        commands.labels.isEmpty ? nil : commands.labels[slot]?[subject.context.language]
    }

    package func label(at index: Int) -> String? { commands.labels.isEmpty ? nil : label(of: commands.slot(at: index).key) }

    /// Returns the action that a client performs for a command key; nil if the client has nothing to do.
    ///
    /// If the request has no viewer, commands that need one are not offered. A link with a destination is still offered. It leads to the
    /// destination, and the part of the command that needs a viewer is skipped.
    ///
    /// ```swift
    /// if case .link(let href)? = viewModel.action(in: .selection) {
    ///     print(href)
    /// }
    /// ```
    public func action(in slot: CommandKey) -> Action? { commands[slot].flatMap { action(of: $0) } }

    package func action(of command: any Command) -> Action? {
        // The field with the destination may be optional. An item without it is not a link, and has no action that would fail.
        if command.needs.contains(.destination), subject.destination == nil { return nil }
        guard let action = command.action(for: subject) else { return nil }
        if subject.context.hasViewer || !command.needs.contains(.viewer) { return action }
        if case .link = action, command.needs.contains(.destination) { return action }
        return nil
    }
}

/// The size of a cell in points.
///
/// A client shows texts at its own text scale. The cell is then `height + textHeight × (scale − 1)` points high.
///
/// ```swift
/// let size = CellSize(width: 300, height: 200, textHeight: 24)
/// let height = size.height + size.textHeight * (2 - 1)  // 224 points at text scale 2
/// ```
public struct CellSize: Sendable, Hashable {
    /// The width in points.
    public var width: Double
    /// The height at text scale 1.
    public var height: Double
    /// The part of `height` that the lines of text take, and that follows the text scale of the client; 0 if the height is constant.
    public var textHeight: Double

    /// Creates a size in points. By default, the height is independent of the text scale.
    public init(width: Double, height: Double, textHeight: Double = 0) {
        self.width = width
        self.height = height
        self.textHeight = textHeight
    }
}

/// A rule for the size of a cell: a constant size, or a share of the client's width if the client sends its width.
package struct SizeRule: Sendable, Hashable {
    /// The default width of a client, in points.
    package static let usualWidth = 320.0
    package static let widths = 1...10_000

    package var size: CellSize
    package var fraction: Double?
    package var aspectRatio: Double?
    /// The minimum width in points. A cell is never wider than its client, whatever `minimum` and `maximum` are.
    package var minimum: Double?
    /// The maximum width in points; nil for no maximum.
    package var maximum: Double?

    package init(_ size: CellSize, fraction: Double? = nil, aspectRatio: Double? = nil, minimum: Double? = nil, maximum: Double? = nil) {
        self.size = size
        self.fraction = fraction
        self.aspectRatio = aspectRatio
        self.minimum = minimum
        self.maximum = maximum
    }

    package static func row(height: Double, textHeight: Double = 0) -> SizeRule {
        SizeRule(CellSize(width: usualWidth, height: height, textHeight: textHeight), fraction: 1)
    }

    package func size(width: Int?) -> CellSize {
        guard let width, let fraction else { return size }
        let client = Double(width)
        let bounded = min(max(client * fraction, minimum ?? 0), maximum ?? .infinity, client)
        let cell = max(1, bounded.rounded())
        let height = aspectRatio.map { max(1, (cell / $0).rounded()) } ?? size.height
        return CellSize(width: cell, height: height, textHeight: min(size.textHeight, height))
    }
}
