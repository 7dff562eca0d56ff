/// Records in the ledger that the cell was selected, clicked, seen or dismissed: whatever is being performed.
public struct AnalyticsCommand: BriefCommand, UndoableCommand {
    public let name = "analytics"

    public init() {}

    public func perform(in context: inout CommandContext) throws {
        context.record(context.occurrence)
    }

    /// The ledger is append-only: taking back is an event of its own.
    public func undo(_ record: [UInt8], in context: inout CommandContext) async throws {
        context.record(.undo)
    }
}
