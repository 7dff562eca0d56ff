/// What a macro does when one of its commands fails.
public enum FailurePolicy: String, Sendable, Hashable, CaseIterable {
    /// Leaves the rest out, and keeps what was done.
    case stop
    /// Goes on with the rest.
    case `continue`
    /// Leaves the rest out, and takes back what was done, in reverse, as far as it can be.
    case compensate
}
