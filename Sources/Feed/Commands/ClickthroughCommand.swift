/// Leads the client to the stored URL of the cell, and records the click. The person has then left: it cannot be undone.
public struct ClickthroughCommand: BriefCommand {
    public let name = "clickthrough"
    public let needs: CommandNeeds = .destination

    public init() {}

    /// A link that names the cell by a signed token and carries no URL, so there is nothing in it to redirect elsewhere.
    public func action(for subject: CommandSubject) -> Action? {
        guard subject.destination != nil else { return nil }
        let context = subject.context
        return .link(href: context.links.click(token: context.tokens.click(cell: subject.cell, slot: context.slot, now: context.now)))
    }

    public func perform(in context: inout CommandContext) throws {
        guard let destination = context.subject?.destination else { throw CommandError.missing(.destination, command: name) }
        context.record(.click)
        context.destination = destination
    }
}
