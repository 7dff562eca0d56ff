public import HTTPTypes

/// An answer that comes a little later, and that no task has to wait for: for what is asked as often as pages are and has to wait all the
/// same, for the disk above all.
public struct DeferredAnswer: Sendable {
    /// Makes the answer, on the event loop: it must neither wait nor take long. What it makes is sent as it is, and not streamed.
    public typealias Make = @Sendable () -> ServerResponse
    /// Brings the answer, once, from any thread. Where it is never called, the server answers 503 when the time for the request is over.
    public typealias Reply = @Sendable (@escaping Make) -> Void

    /// Calls the work off, if that is still possible: nobody waits for the answer any more. Called on the loop, once at the most; the reply may
    /// be called all the same.
    public typealias Cancel = @Sendable () -> Void

    let route: String?
    let begin: @Sendable (@escaping Reply) -> Cancel?

    /// - Parameters:
    ///   - route: the name of the route in observations.
    ///   - begin: has the work done, and gives what calls it off, if anything does. Called once, on the loop: it must neither wait nor take
    ///     long.
    public init(route: String? = nil, begin: @escaping @Sendable (_ reply: @escaping Reply) -> Cancel?) {
        self.route = route
        self.begin = begin
    }

    /// The same answer with more fields.
    public func adding(_ fields: HTTPFields) -> DeferredAnswer {
        DeferredAnswer(route: route) { [begin] reply in
            begin { make in reply { make().adding(fields) } }
        }
    }
}
