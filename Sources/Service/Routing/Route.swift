internal import HTTPServer
internal import HTTPTypes

/// One method on one pattern of paths, and what answers it.
struct Route: Sendable {
    typealias Handle = @Sendable (RouteRequest) async throws -> ServerResponse

    let method: HTTPRequest.Method
    /// Segments of the path; one in braces stands for any: `/cells/{id}/selection`.
    let pattern: String
    let segments: [Segment]
    /// How many segments stand for themselves.
    let literals: Int
    /// The most bytes of a body; the server's default where nil.
    var bodyLimit: Int?
    /// Whether a client that closes its side has lost interest in the answer.
    var cancelsOnPeerClose = false
    /// How long the answer may take; the server's default where nil.
    var timeLimit: Duration?
    /// Whether the route reads the body as it arrives.
    var streamsBody = false
    let handle: Handle

    enum Segment: Sendable, Hashable {
        case literal(String)
        case parameter(String)
    }

    init(
        _ method: HTTPRequest.Method, _ pattern: String, bodyLimit: Int? = nil, cancelsOnPeerClose: Bool = false,
        timeLimit: Duration? = nil, streamsBody: Bool = false, _ handle: @escaping Handle
    ) {
        self.method = method
        self.pattern = pattern
        self.bodyLimit = bodyLimit
        self.cancelsOnPeerClose = cancelsOnPeerClose
        self.timeLimit = timeLimit
        self.streamsBody = streamsBody
        self.handle = handle
        // As requests are taken apart: the path `/` is one empty segment.
        let segments: [Segment] = pattern.dropFirst().split(separator: "/", omittingEmptySubsequences: false).map { segment in
            segment.hasPrefix("{") ? .parameter(String(segment.dropFirst().dropLast())) : .literal(String(segment))
        }
        self.segments = segments
        literals = segments.count { if case .literal = $0 { true } else { false } }
    }
}
