/// The slots of a cell that a command can stand in. A missing slot is legal and means that there is nothing to do.
public enum CommandKey: String, Sendable, Hashable, CaseIterable {
    /// Fills the cell with its content. The client performs it.
    case configuration
    /// Stops what filling the cell began, such as requests for pictures. The client asks for it.
    case cancellation
    case selection
    case deselection
    /// Hides the cell from one viewer's feed.
    case dismissal
    /// The cell was seen: at least half of its pixels for one second.
    case impression
}
