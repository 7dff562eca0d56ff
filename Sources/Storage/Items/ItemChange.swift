/// What putting an item into the store did.
public enum ItemChange: Sendable, Hashable {
    case added
    /// One of the same kind and id was there; its place is the new one's.
    case replaced
}
