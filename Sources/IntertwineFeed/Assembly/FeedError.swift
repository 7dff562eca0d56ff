/// Why a page cannot be made: 400 over HTTP.
public enum FeedError: Error, Sendable, Hashable {
    /// The limit is not within ``FeedRequest/limits``.
    case limitOutOfRange(Int)
    case cursor(CursorError)
}
