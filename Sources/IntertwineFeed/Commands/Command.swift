// How commands work, in whole:
//
// - A cell view model has slots (`CommandKey`), and in each slot at most one `Command`. `viewModel.commands[slot]?.perform(in: &context)` is
//   all there is to performing one: it is the line by which the service does it, whatever the cell, the slot and the command.
// - A command is one of two things. One that has no `components` does its own work: it puts events, changes, a screen or a
//   destination into the `CommandContext` that it is given, and what it puts there it takes along if it throws. One that has `components` is a
//   composite: it has the context perform them, in whatever way it likes, and the context notes each. Nobody asks a composite what type
//   it is, so `MacroCommand` is one among all that programs may write.
// - A command may wait. One that does not, runs from beginning to end on the thread that it is called on: the click on a known link
//   takes no detour.
// - The context is a value. When the command has returned, `ActionPerformer` hands what is in it to the ledger as one unit, and answers when
//   that is on disk.
// - A command that can be taken back is an `UndoableCommand`. What it keeps for that stands in the ledger, under its name.

/// Something that can be done with a cell, with two faces: what a client is told about it, and the server's part in it.
///
/// Both faces are optional. A command without ``action(for:)`` runs on the server alone; one that leaves ``perform(in:)`` out is the
/// client's alone. A command is registered by name with ``CommandRegistry`` and shared by all cells, so it keeps nothing about any one
/// of them: the cell comes as the subject. What it needs to reach other systems it is made with. It may suspend, do I/O, and throw.
public protocol Command: Sendable {
    /// The name that configuration, answers and the ledger know it by. Never changed once performances of it are stored.
    var name: String { get }

    /// What has to be there for it to make sense; checked when the service starts. A composite needs what its components need.
    var needs: CommandRequirements { get }

    /// What it takes from whoever performs it, such as the text of a field; checked before it is performed. A composite takes what its
    /// components take.
    var input: [FieldDeclaration] { get }

    /// The commands that a composite is made of, in order; nil for a command that does its own work.
    var components: [any Command]? { get }

    /// The command as one that can be taken back; nil where it cannot. There is nothing to implement: an ``UndoableCommand`` is its own.
    var undoing: (any UndoableCommand)? { get }

    /// What a client is told, or nil where the client has no part in it. The first component that has something to tell speaks for all.
    func action(for subject: CommandSubject) -> Action?

    /// The server's part. Effects on the ledger and on the viewer's lists go through the context, and are committed together afterwards.
    ///
    /// A composite calls ``CommandContext/perform(_:)`` for each component that it performs; where it leaves this out, it performs all of
    /// them in order, up to the first that fails.
    /// - Throws: anything; what the command itself had put into the context is then dropped, and the macro's ``FailurePolicy`` decides the
    ///   rest. Of a composite that throws, what its components did stays.
    func perform(in context: inout CommandContext) async throws
}

extension Command {
    public var needs: CommandRequirements { components?.reduce([]) { $0.union($1.needs) } ?? [] }

    public var input: [FieldDeclaration] { Self.input(of: components ?? []) }

    public var components: [any Command]? { nil }

    public var undoing: (any UndoableCommand)? { nil }

    public func action(for subject: CommandSubject) -> Action? {
        for component in components ?? [] {
            if let action = component.action(for: subject) { return action }
        }
        return nil
    }

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

    /// What several commands take together. Where two take a value of one name, it is the same value, as the first declares it.
    static func input(of commands: [any Command]) -> [FieldDeclaration] {
        commands.reduce(into: []) { all, command in
            for field in command.input where !all.contains(where: { $0.name == field.name }) { all.append(field) }
        }
    }

    /// The commands that it comes down to, in order: itself, or those that its components come down to.
    var leaves: [any Command] {
        guard let components else { return [self] }
        return components.flatMap(\.leaves)
    }
}

/// A command that can be taken back.
///
/// While performing, it keeps what it will need with ``CommandContext/keepForUndo(_:)``. The item may be gone by the time of the undo,
/// and the process another one: the kept bytes, the cell's id and the viewer are all there is.
public protocol UndoableCommand: Command {
    /// Takes one performance back.
    ///
    /// - Parameter record: the bytes that the performance kept; empty where it kept none.
    /// - Throws: anything; nothing of the undo is then committed, and it may be tried again. So it must bear being called twice.
    func undo(_ record: [UInt8], in context: inout CommandContext) async throws
}

extension UndoableCommand {
    public var undoing: (any UndoableCommand)? { self }
}

/// What a command has to be given: by the request, or by the kind of cell that it stands in.
public struct CommandRequirements: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// A viewer, for whom it acts.
    public static let viewer = CommandRequirements(rawValue: 1 << 0)
    /// A screen that the cell opens.
    public static let presentation = CommandRequirements(rawValue: 1 << 1)
    /// A stored URL that the cell leads to.
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
    public var item: FeedItem
    private var opened: @Sendable () -> Presentation?
    /// The screen that the cell opens, where its kind has one.
    public var presentation: Presentation? {
        get { opened() }
        set { opened = { newValue } }
    }
    /// The stored URL that the cell leads to, where its kind has one.
    public var destination: String?
    public var context: CellContext
    /// Of an advertisement on which something is performed.
    public internal(set) var creative: CreativeInfo?

    /// - Parameter presentation: made when somebody asks for it: mostly a cell is only shown.
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

/// Why a command of the product did not perform.
public enum CommandError: Error, Sendable, Hashable {
    /// The request or the cell did not bring what the command needs.
    case missing(CommandRequirements, command: String)
    /// A step of a macro failed, and its policy gave up.
    case macroFailed(step: String)
}
