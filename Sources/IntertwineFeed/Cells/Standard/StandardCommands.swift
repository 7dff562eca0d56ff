internal import IntertwinePrimitives

// The built-in commands.

/// Records the performed action in the ledger: a selection, click, impression or dismissal.
public struct Analytics: UndoableCommand {
    /// The name `analytics` of the command in configuration and in the ledger.
    public let name = "analytics"

    /// Creates the command, which has no settings.
    public init() {}

    /// Records the event kind of the performance. It never fails.
    public func perform(in context: inout CommandContext) throws {
        context.record(context.occurrence)
    }

    /// Records the undo as an event of its own, because the ledger is append-only.
    public func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        context.record(.undo)
    }
}

/// Instructs the client to show the screen that the cell opens, such as the enlarged image of a user.
public struct Present: UndoableCommand {
    /// The name `present` of the command in configuration and in the ledger.
    public let name = "present"
    /// The requirements: a screen that the cell opens.
    public let needs: CommandRequirements = .presentation

    /// Creates the command, which has no settings.
    public init() {}

    /// Sets the screen of the cell as the presentation of the context.
    ///
    /// - Throws: ``CommandError/missing(_:command:)`` if the cell opens no screen.
    public func perform(in context: inout CommandContext) throws {
        guard let presentation = context.subject?.presentation else { throw CommandError.missing(.presentation, command: name) }
        context.presentation = presentation
    }

    /// Removes the presentation. The server has no other state to revert, and the client navigates back.
    public func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        context.presentation = nil
    }
}

/// Redirects the client to the stored URL of the cell and records the click. It cannot be undone, because the person has left the app.
public struct Clickthrough: Command {
    /// The name `clickthrough` of the command in configuration and in the ledger.
    public let name = "clickthrough"
    /// The requirements: a stored URL of the cell.
    public let needs: CommandRequirements = .destination

    /// Creates the command, which has no settings.
    public init() {}

    /// Returns a link that identifies the cell by a signed token. The link contains no URL, so it cannot be used as an open redirect.
    public func action(for subject: CommandSubject) -> Action? {
        guard subject.destination != nil else { return nil }
        let context = subject.context
        return .link(href: context.links.click(token: context.clickToken(of: subject.cell)))
    }

    /// Records the event `click` and sets the stored URL of the cell as the destination of the context.
    ///
    /// - Throws: ``CommandError/missing(_:command:)`` if the cell has no stored URL.
    public func perform(in context: inout CommandContext) throws {
        guard let destination = context.subject?.destination else { throw CommandError.missing(.destination, command: name) }
        context.record(.click)
        context.destination = destination
    }
}

/// Fills a cell with its content. The command runs on the client only.
///
/// ```swift
/// let command = BindCommand([CellBinding("text", "Buy leeks"), CellBinding("cover", .image("/images/leeks.png"))])
/// let action = command.action(for: subject)  // .bind with both bindings
/// ```
public struct BindCommand: Command {
    /// The name `bind` of the command.
    public let name = "bind"
    /// The values of the parts of the cell.
    public var bindings: [CellBinding]

    /// Creates the command that fills a cell with bindings.
    public init(_ bindings: [CellBinding]) {
        self.bindings = bindings
    }

    /// Returns the action `bind` with the bindings.
    public func action(for subject: CommandSubject) -> Action? {
        .bind(bindings)
    }
}

struct RequestCommand: Command {
    enum Target: Sendable, Hashable {
        case imageRequests
        case slot(CommandKey)
        case report(CommandKey, Viewability?)
    }

    let name: String
    var target: Target
    private let schema: ByLanguage<JSONValue>?

    init(name: String, target: Target, input: [FieldDeclaration] = []) {
        self.name = name
        self.target = target
        schema = input.isEmpty ? nil : FieldDeclaration.schema(of: input)
    }

    func action(for subject: CommandSubject) -> Action? {
        let links = subject.context.links
        let schema = self.schema?[subject.context.language]
        switch target {
        case .imageRequests: return .request(method: "DELETE", href: links.imageRequest, templated: true)
        case .slot(.impression): return report(.impression, of: subject)
        case .report(let slot, let viewability): return report(slot, of: subject, viewable: viewability)
        case .slot(.configuration), .slot(.cancellation): return nil
        case .slot(.deselection):
            return .request(method: "DELETE", href: links.cell(subject.cell, CommandKey.selection.rawValue), input: schema)
        case .slot(let slot): return .request(method: "POST", href: links.cell(subject.cell, slot.rawValue), input: schema)
        }
    }

    private func report(_ slot: CommandKey, of subject: CommandSubject, viewable: Viewability? = nil) -> Action {
        .request(
            method: "POST", href: subject.context.links.events, body: report(of: slot.rawValue, subject), viewable: viewable?.value)
    }

    private func report(of type: String, _ subject: CommandSubject) -> JSONValue {
        let token = subject.context.impressionToken(of: subject.cell)
        let event = JSONValue.object([
            .init("type", .text(type)), .init("cell", .text(subject.cell)), .init("token", .text(token)),
        ])
        return .object([.init("events", .list([event]))])
    }
}
