/// A command whose part on the server does no more than put something into the context: it neither waits nor takes long, so it runs where the
/// request is, be that an event loop.
public protocol BriefCommand: Command {
    /// The server's part, without suspending.
    func perform(in context: inout CommandContext) throws
}
