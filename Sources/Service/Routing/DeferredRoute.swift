internal import HTTPServer

/// The answer of a route that is brought later, without a task; what its maker throws becomes a problem, as of any route.
struct DeferredRoute: Sendable {
    typealias Make = @Sendable () throws -> ServerResponse
    typealias Reply = @Sendable (@escaping Make) -> Void

    let pattern: String
    /// Called once, on the loop; calls what it is given once, from any thread.
    let begin: @Sendable (@escaping Reply) -> Void
}
