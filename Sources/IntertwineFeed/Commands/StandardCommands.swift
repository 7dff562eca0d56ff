// The commands that the product comes with.

/// Records in the ledger that the cell was selected, clicked, seen or dismissed: whatever is being performed.
package struct AnalyticsCommand: UndoableCommand {
    package let name = "analytics"

    package init() {}

    package func perform(in context: inout CommandContext) throws {
        context.record(context.occurrence)
    }

    /// The ledger is append-only: taking back is an event of its own.
    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        context.record(.undo)
    }
}

/// A command that can tell that it does nothing on a click but what every click on a link comes to: it is recorded, and leads to the stored URL.
protocol DirectRedirectCommand: Command {
    var isDirectRedirect: Bool { get }
}

extension AnalyticsCommand: DirectRedirectCommand {
    var isDirectRedirect: Bool { true }
}

extension ClickthroughCommand: DirectRedirectCommand {
    var isDirectRedirect: Bool { true }
}

extension MacroCommand: DirectRedirectCommand {
    var isDirectRedirect: Bool { commands.allSatisfy { ($0 as? any DirectRedirectCommand)?.isDirectRedirect == true } }
}

/// Has the client show the screen that the cell opens, such as the image zoom of a user.
package struct PresentCommand: UndoableCommand {
    package let name = "present"
    package let needs: CommandRequirements = .presentation

    package init() {}

    package func perform(in context: inout CommandContext) throws {
        guard let presentation = context.subject?.presentation else { throw CommandError.missing(.presentation, command: name) }
        context.presentation = presentation
    }

    /// Nothing stays behind on the server; the client goes back.
    package func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        context.presentation = nil
    }
}

/// Leads the client to the stored URL of the cell, and records the click. The person has then left: it cannot be undone.
package struct ClickthroughCommand: Command {
    package let name = "clickthrough"
    package let needs: CommandRequirements = .destination

    package init() {}

    /// A link that names the cell by a signed token and carries no URL, so there is nothing in it to redirect elsewhere.
    package func action(for subject: CommandSubject) -> Action? {
        guard subject.destination != nil else { return nil }
        let context = subject.context
        return .link(href: context.links.click(token: context.clickToken(of: subject.cell)))
    }

    package func perform(in context: inout CommandContext) throws {
        guard let destination = context.subject?.destination else { throw CommandError.missing(.destination, command: name) }
        context.record(.click)
        context.destination = destination
    }
}

/// Fills a cell with its content. The client's alone.
public struct BindCommand: Command {
    public let name = "bind"
    public var bindings: [Binding]

    public init(_ bindings: [Binding]) {
        self.bindings = bindings
    }

    public func action(for subject: CommandSubject) -> Action? {
        .bind(bindings)
    }
}

/// Tells the client to send a request. The client's alone; what the request causes is for other commands.
public struct RequestCommand: Command {
    public enum Target: Sendable, Hashable {
        /// The picture requests that filling the cell began.
        case imageRequests
        /// The slot itself, as the service performs it.
        case slot(CommandKey)
        /// The slot, as clients report it with the cell's token; and from when on it is to be reported.
        case report(CommandKey, Viewability?)
    }

    public let name: String
    public var target: Target
    /// The JSON Schema of what the request takes; nil where it takes nothing.
    private let schema: JSONValue?

    /// - Parameter input: what the request takes.
    public init(name: String, target: Target, input: [FieldDeclaration] = []) {
        self.name = name
        self.target = target
        schema = input.isEmpty ? nil : FieldDeclaration.schema(of: input)
    }

    public func action(for subject: CommandSubject) -> Action? {
        let links = subject.context.links
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
            method: "POST", href: subject.context.links.events, body: event(slot.rawValue, of: subject), viewable: viewable?.value)
    }

    private func event(_ type: String, of subject: CommandSubject) -> JSONValue {
        let token = subject.context.impressionToken(of: subject.cell)
        return .list([
            .object([
                .init("type", .text(type)), .init("cell", .text(subject.cell)), .init("token", .text(token)),
            ])
        ])
    }
}
