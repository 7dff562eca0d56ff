/// Something that can be done with a cell, with two faces: what a client is told about it, and the server's part in it.
///
/// Both faces are optional. A command without ``action(for:)`` runs on the server alone; one that leaves ``perform(in:)`` out is the
/// client's alone. A command is registered by name with ``CommandRegistry`` and shared by all cells, so it keeps nothing about any one
/// of them: the cell comes as the subject. What it needs to reach other systems it is made with. It may suspend, do I/O, and throw.
public protocol Command: Sendable {
    /// The name that configuration, answers and the ledger know it by. Never changed once performances of it are stored.
    var name: String { get }

    /// What has to be there for it to make sense; checked when the service starts.
    var needs: CommandNeeds { get }

    /// What a client is told, or nil where the client has no part in it.
    func action(for subject: CommandSubject) -> Action?

    /// The server's part. Effects on the ledger and on the viewer's lists go through the context, and are committed together afterwards.
    ///
    /// - Throws: anything; what the command had put into the context is then dropped, and the macro's ``FailurePolicy`` decides the rest.
    func perform(in context: inout CommandContext) async throws
}

extension Command {
    public var needs: CommandNeeds { [] }

    public func action(for subject: CommandSubject) -> Action? { nil }

    public func perform(in context: inout CommandContext) async throws {}
}
