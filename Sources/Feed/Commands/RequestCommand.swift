/// Tells the client to send a request. The client's alone; what the request causes is for other commands.
public struct RequestCommand: Command {
    public enum Target: Sendable, Hashable {
        /// The picture requests that filling the cell began.
        case imageRequests
        /// The slot itself, as the service performs it.
        case slot(CommandKey)
    }

    public let name: String
    public var target: Target

    public init(name: String, target: Target) {
        self.name = name
        self.target = target
    }

    public func action(for subject: CommandSubject) -> Action? {
        let links = subject.context.links
        switch target {
        case .imageRequests: return .request(method: "DELETE", href: links.imageRequest, templated: true)
        case .slot(.selection): return .request(method: "POST", href: links.cell(subject.cell, "selection"))
        case .slot(.deselection): return .request(method: "DELETE", href: links.cell(subject.cell, "selection"))
        case .slot(.dismissal): return .request(method: "POST", href: links.cell(subject.cell, "dismissal"))
        case .slot(.impression): return .request(method: "POST", href: links.events, body: impression(of: subject))
        case .slot(.configuration), .slot(.cancellation): return nil
        }
    }

    private func impression(of subject: CommandSubject) -> ActionValue {
        let context = subject.context
        let token = context.tokens.impression(cell: subject.cell, slot: context.slot, now: context.now)
        return .list([
            .object([
                .init("type", .text("impression")), .init("cell", .text(subject.cell)), .init("token", .text(token)),
            ])
        ])
    }
}
