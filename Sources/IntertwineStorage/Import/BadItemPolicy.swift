/// What an import does about an item that is not valid.
public enum BadItemPolicy: String, Sendable, Hashable, CaseIterable {
    /// Ends the import and takes all of it back.
    case stop
    /// Leaves it out, reports it, and goes on.
    case skip
}
