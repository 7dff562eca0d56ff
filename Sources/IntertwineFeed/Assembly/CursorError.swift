/// Why a cursor is refused: 400 over HTTP.
public enum CursorError: Error, Sendable, Hashable {
    /// Damaged, forged, or signed by a key that is valid no more.
    case invalid
    /// Ours, but from another feed.
    case otherFeed
}
