public import IntertwinePrimitives

// Overview of commands:
//
// - A cell view model has slots (`CommandKey`) with at most one `Command` each. The service performs every command with the single line
//   `viewModel.commands[slot]?.perform(in: &context)`, for all cells, slots and commands. It is in `ActionPerformer`.
// - A command without `components` does its own work: it adds events, changes, a screen or a destination to the `CommandContext`. If it
//   throws, its additions are removed.
// - A command with `components` is a composite. It passes its components to the context, in any way; the context records a step for each. No
//   code checks the type of a composite, so `MacroCommand` is only one of many possible composites.
// - A command may suspend. A command that does not suspend runs completely on the calling thread, such as the click on a cached link.
// - The context is a value. After the command has returned, `ActionPerformer` commits the content of the context to the ledger as one
//   entry, and responds when the entry is durable on disk.
// - A command that can be undone is an `UndoableCommand`. The ledger stores its undo record under its name.

/// An operation on a cell, with a client part and a server part.
///
/// Both parts are optional. A command without ``action(for:)`` runs on the server only; a command without ``perform(in:)`` runs on the client
/// only. A command is registered by name in a ``CommandRegistry`` and shared by all cells, so it stores nothing about a cell: the cell is
/// the subject. Clients of other systems are passed to its initializer. A command may suspend, perform I/O, and throw.
///
/// ```swift
/// struct MuteCommand: Command {
///     let name = "mute"
///     let needs: CommandRequirements = .viewer
///
///     func perform(in context: inout CommandContext) async throws {
///         context.record(LedgerEvent.Kind(rawValue: "mute"))
///     }
/// }
/// ```
public protocol Command: Sendable {
    /// The name of the command in configuration, responses and the ledger. It must not change once the ledger contains performances of it.
    var name: String { get }

    /// The requirements of the command, checked at service startup. A composite has the requirements of all its components.
    var needs: CommandRequirements { get }

    /// The input fields of the command, such as a text. The input is validated before the command runs. A composite has the fields of all its
    /// components.
    ///
    /// ```swift
    /// var input: [FieldDeclaration] {
    ///     [FieldDeclaration("text", .text, isRequired: true, maximum: 280, label: "Comment")]
    /// }
    /// ```
    var input: [FieldDeclaration] { get }

    /// The components of a composite, in order, or nil if the command does its own work.
    ///
    /// ```swift
    /// struct SaveAndDismiss: Command {
    ///     let name = "save-and-dismiss"
    ///     let components: [any Command]? = [Save(), Dismiss()]
    /// }
    /// ```
    var components: [any Command]? { get }

    /// The undoable form of the command, or nil if it cannot be undone. An ``UndoableCommand`` returns itself and need not implement this.
    var undoing: (any UndoableCommand)? { get }

    /// The refusals that the API description lists. A composite has the refusals of all its components.
    ///
    /// ```swift
    /// var refusals: [Refusal] {
    ///     [Refusal(.conflict, "Already voted."), Refusal(.tooManyRequests, "Too many votes.", retryAfter: .seconds(60))]
    /// }
    /// ```
    var refusals: [Refusal] { get }

    /// Validates the values of an action beyond their declarations, before any command of the action runs. A composite asks its components.
    ///
    /// ```swift
    /// func validate(_ input: [String: JSONValue]) throws(ItemError) {
    ///     guard case .text(let tag)? = input["tag"], tag.hasPrefix("#") else {
    ///         throw ItemError(field: "tag", reason: "must begin with #")
    ///     }
    /// }
    /// ```
    ///
    /// - Parameter input: The values by field name, valid as ``input`` declares them. It is not called for commands without fields.
    /// - Throws: `ItemError`, which the client receives as problem details (422) with the name of the field.
    func validate(_ input: [String: JSONValue]) throws(ItemError)

    /// Returns the action for the client, or nil if the client has no part in the command. A composite returns the first action of its components.
    ///
    /// ```swift
    /// func action(for subject: CommandSubject) -> Action? {
    ///     guard let destination = subject.destination else { return nil }
    ///     return .link(href: destination)
    /// }
    /// ```
    func action(for subject: CommandSubject) -> Action?

    /// Performs the server part of the command. Effects on the ledger and on the viewer's lists go through the context and are committed together
    /// afterwards.
    ///
    /// A composite calls ``CommandContext/perform(_:)`` for each component that it performs. The default implementation performs all components in
    /// order until one fails.
    ///
    /// ```swift
    /// func perform(in context: inout CommandContext) async throws {
    ///     guard context.subject != nil else { throw Refusal(.gone, "The item was removed.") }
    ///     context.record(LedgerEvent.Kind(rawValue: "mute"))
    /// }
    /// ```
    ///
    /// - Throws: ``Refusal`` to refuse the whole action, or any other error. The effects of the command itself are then removed from the context,
    ///   and the ``FailurePolicy`` of the macro decides how to continue. If a composite throws, the effects of its components remain.
    func perform(in context: inout CommandContext) async throws
}

extension Command {
    /// The default: the requirements of all components. A command without components has none.
    public var needs: CommandRequirements { components?.reduce([]) { $0.union($1.needs) } ?? [] }

    /// The default: the fields of all components. If two components declare one name, the first declaration applies.
    public var input: [FieldDeclaration] { Self.input(of: components ?? []) }

    /// The default: nil, because the command does its own work.
    public var components: [any Command]? { nil }

    /// The default: nil, because the command cannot be undone.
    public var undoing: (any UndoableCommand)? { nil }

    /// The default: the refusals of all components.
    public var refusals: [Refusal] { components?.flatMap(\.refusals) ?? [] }

    /// Validates the values with all components, in order.
    ///
    /// - Throws: The error of the first component that rejects a value.
    public func validate(_ input: [String: JSONValue]) throws(ItemError) {
        for component in components ?? [] { try component.validate(input) }
    }

    /// Returns the first action of the components; nil if none of them has an action.
    public func action(for subject: CommandSubject) -> Action? {
        for component in components ?? [] {
            if let action = component.action(for: subject) { return action }
        }
        return nil
    }

    /// Performs the components in order until one fails. The remaining components are recorded as skipped.
    ///
    /// - Throws: The error of the component that failed.
    public func perform(in context: inout CommandContext) async throws {
        let components = components ?? []
        for (index, component) in components.enumerated() {
            do {
                try await context.perform(component)
            } catch {
                for rest in components[(index + 1)...] { context.skip(rest) }
                throw error
            }
        }
    }

    static func input(of commands: [any Command]) -> [FieldDeclaration] {
        commands.reduce(into: []) { all, command in
            for field in command.input where !all.contains(where: { $0.name == field.name }) { all.append(field) }
        }
    }

    package var leaves: [any Command] {
        guard let components else { return [self] }
        return components.flatMap(\.leaves)
    }
}

/// A command that can be undone.
///
/// While performing, the command stores data for the undo with ``CommandContext/recordUndo(_:)``. An undo may run in another process and after
/// the item was deleted: only the stored bytes, the cell id and the viewer are available.
///
/// ```swift
/// struct MuteCommand: UndoableCommand {
///     let name = "mute"
///     let needs: CommandRequirements = .viewer
///
///     func perform(in context: inout CommandContext) async throws {
///         try context.put(on: "muted")
///     }
///
///     func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
///         try context.revert(record, from: "muted")
///     }
/// }
/// ```
public protocol UndoableCommand: Command {
    /// Undoes one performance.
    ///
    /// - Parameter record: the bytes that the performance stored, or an empty array if it stored none.
    /// - Throws: ``Refusal``, or any other error. Nothing of the undo is then committed, and the undo may be retried. The method must therefore
    ///   tolerate repeated calls.
    func undo(_ record: [UInt8], in context: inout CommandContext) async throws
}

extension UndoableCommand {
    /// The command itself.
    public var undoing: (any UndoableCommand)? { self }
}

/// The requirements of a command on the request or on the kind of its cell.
///
/// ```swift
/// let needs: CommandRequirements = [.viewer, .destination]
/// let isMet = needs.isSubset(of: [.viewer, .presentation])  // false
/// ```
public struct CommandRequirements: OptionSet, Sendable, Hashable {
    /// The requirements as bits.
    public let rawValue: Int

    /// Creates requirements from their bits.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// A viewer for whom the command acts.
    public static let viewer = CommandRequirements(rawValue: 1 << 0)
    /// A screen that the cell opens.
    public static let presentation = CommandRequirements(rawValue: 1 << 1)
    /// A stored URL that is the destination of the cell.
    public static let destination = CommandRequirements(rawValue: 1 << 2)

    var names: [String] {
        let all: [(need: CommandRequirements, name: String)] = [
            (.viewer, "viewer"), (.presentation, "presentation"), (.destination, "destination"),
        ]
        return all.filter { contains($0.need) }.map(\.name)
    }
}

/// The cell that a command acts on.
public struct CommandSubject: Sendable {
    /// The cell's id.
    public var cell: String
    /// The item that the cell shows.
    public var item: FeedItem
    private var opened: @Sendable () -> Presentation?
    /// The screen that the cell opens, or nil if its kind has none.
    public var presentation: Presentation? {
        get { opened() }
        set { opened = { newValue } }
    }
    /// The stored URL of the cell, or nil if its kind has none.
    public var destination: String?
    /// The conditions under which the cell is made.
    public var context: CellContext
    package var creative: CreativeInfo?
    /// The cell of the item's author; nil if the item has none.
    package var author: String?

    /// Creates the subject of a cell.
    ///
    /// ```swift
    /// let subject = CommandSubject(
    ///     cell: "note:1", item: item, presentation: Presentation(screen: "NoteEditor", arguments: []), context: context)
    /// let screen = subject.presentation?.screen  // "NoteEditor"
    /// ```
    ///
    /// - Parameters:
    ///   - cell: The id of the cell.
    ///   - item: The item that the cell shows.
    ///   - presentation: The screen that the cell opens. It is evaluated on access only. Why: most cells are only rendered.
    ///   - destination: The stored URL of the cell; nil if its kind has none.
    ///   - context: The conditions under which the cell is made.
    public init(
        cell: String, item: FeedItem, presentation: @autoclosure @escaping @Sendable () -> Presentation? = nil, destination: String? = nil,
        context: CellContext
    ) {
        self.cell = cell
        self.item = item
        opened = presentation
        self.destination = destination
        self.context = context
    }
}

enum CommandError: Error, Sendable, Hashable {
    case missing(CommandRequirements, command: String)
    case macroFailed(step: String)
}
