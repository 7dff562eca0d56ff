/// What putting an item did.
public enum ItemChange: Sendable, Hashable {
    case added
    case replaced
    /// Nothing: the item was taken down, and has not been released.
    case withheld
}
