/// Why a streamed body ended before its end.
public enum RequestBodyError: Error, Hashable, Sendable {
    /// The connection is gone, or what came was no body.
    case incomplete
    /// The body came too slowly.
    case tooSlow
    /// The body is longer than its plan allows.
    case tooLarge
}
