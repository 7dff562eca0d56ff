/// Why there are no changes to tell.
public enum ChangesError: Error, Sendable, Hashable {
    /// Damaged, or never ours: 400 over HTTP.
    case invalid
    /// Of another feed or another version of the service, or signed with a key that is valid no more: the client begins anew.
    case outdated
}
