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
