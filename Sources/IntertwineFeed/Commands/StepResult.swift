/// What became of one command of a performance.
public struct StepResult: Sendable {
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        case performed
        case failed
        /// Not run, because an earlier one had failed.
        case skipped
        /// Done, and taken back because a later one failed, or by an undo.
        case undone
        /// What would run, where the request asked only that.
        case simulated
    }

    public var command: String
    public var outcome: Outcome
    /// Where it was performed and can be undone, what it kept for that.
    public var undo: [UInt8]?
    /// Why it failed, or could not be taken back. For the log, never for the client.
    public var error: (any Error)?
    /// Takes it back, within the same performance.
    var undoing: (any UndoableCommand)?

    init(command: String, outcome: Outcome, error: (any Error)? = nil) {
        self.command = command
        self.outcome = outcome
        self.error = error
    }
}
