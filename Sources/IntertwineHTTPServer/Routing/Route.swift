package import HTTPTypes
internal import IntertwinePrimitives

/// A method and a path pattern with their handler and description.
///
/// It is the only declaration of a route: the router serves requests by it and refuses invalid parameters,
/// and ``OpenAPIDocument`` is generated from it.
package struct Route: Sendable {
    package typealias Handle = @Sendable (RouteRequest) async throws -> HandlerResponse
    /// Looks up an encoded response, on the event loop. Nil passes the request on.
    package typealias CachedLookup = @Sendable (borrowing RequestHead, RouteMatch) -> EncodedResponse?
    /// Begins a response that needs no task, on the event loop. Nil passes the request on.
    package typealias PendingHandle = @Sendable (borrowing RequestHead, RouteMatch) -> HandlerResult.PendingStart?
    /// Handles a request around the route, on the event loop. The last parameter is the handler of the route.
    package typealias Around = @Sendable (borrowing RequestHead, PeerAddress, any HTTPHandler) -> HandlerResult

    package let method: HTTPRequest.Method
    /// The segments of the path. A segment in braces is a parameter, optionally with a literal suffix: `/schemas/cells/{identifier}.json`.
    package let pattern: String
    /// The description; nil if the route is not part of the API.
    package var operation: APIOperation?
    /// The deprecation that responses announce; nil if the route is not deprecated.
    var deprecation: Deprecation?
    /// The cached responses of requests without a body; nil if there are none.
    package var cached: CachedLookup?
    /// The responses without a task to requests that have no body and no escapes in their path; nil if there are none. Why: a task and a parsed
    /// head would cost more than all other work for a click.
    package var pending: PendingHandle?
    /// Answers the requests that the other two pass on, in a task.
    package var handle: Handle
    /// The middleware of the route; nil if it has none.
    package var around: Around?
    /// The maximum number of body bytes; nil for the server's default.
    package let bodyLimit: Int?
    /// True if the request is cancelled when the client closes its sending side.
    package let cancelsOnPeerClose: Bool
    /// The time limit until the response; nil for the server's default.
    package let timeLimit: Duration?
    /// True if the route reads the body as it arrives.
    package let streamsBody: Bool

    package init(
        _ method: HTTPRequest.Method, _ pattern: String, _ operation: APIOperation? = nil, bodyLimit: Int? = nil,
        cancelsOnPeerClose: Bool = false, timeLimit: Duration? = nil, streamsBody: Bool = false, cached: CachedLookup? = nil,
        pending: PendingHandle? = nil, _ handle: @escaping @Sendable (RouteRequest) async throws -> ServerResponse
    ) {
        (self.method, self.pattern, self.operation) = (method, pattern, operation)
        (self.bodyLimit, self.cancelsOnPeerClose, self.timeLimit, self.streamsBody) = (
            bodyLimit, cancelsOnPeerClose, timeLimit, streamsBody
        )
        (self.cached, self.pending) = (cached, pending)
        self.handle = { .response(try await handle($0)) }
    }

    /// Creates a route that reads, with encoded responses.
    package init(
        _ pattern: String, _ operation: APIOperation? = nil, cached: CachedLookup? = nil, pending: PendingHandle? = nil,
        encoded handle: @escaping @Sendable (RouteRequest) async throws -> EncodedResponse
    ) {
        (method, self.pattern, self.operation) = (.get, pattern, operation)
        (bodyLimit, cancelsOnPeerClose, timeLimit, streamsBody) = (nil, false, nil, false)
        (self.cached, self.pending) = (cached, pending)
        self.handle = { .encoded(try await handle($0)) }
    }

    /// Returns a route with constant content, which is encoded once in both codings. Conditional requests are answered with 304.
    ///
    /// - Parameter body: The content, evaluated at the first request.
    package static func content(
        _ pattern: String, _ operation: APIOperation? = nil, type: String, _ body: @escaping @Sendable @autoclosure () -> [UInt8]
    ) -> Route {
        let content = LazyResponse { encoded(pattern, type: type, body()) }
        return Route(pattern, operation, encoded: { _ in content.response })
    }

    /// Returns the encoded response of a route with constant content.
    package static func encoded(_ pattern: String, type: String, _ body: [UInt8], fields: HTTPFields = [:]) -> EncodedResponse {
        var fields = fields
        fields[.contentType] = type
        fields[.cacheControl] = "no-cache"
        var response = ServerResponse(status: .ok, fields: fields, body: body)
        response.entityTag = EntityTag.of(body)
        response.isCompressible = true
        return EncodedResponse(response, compressionLevel: 6, route: pattern)
    }
}

/// A request as a route receives it, with its parameters parsed.
package struct RouteRequest: Sendable {
    package let request: ServerRequest
    /// The time in milliseconds since 1970-01-01 UTC.
    package let now: Int64
    package let query: Query
    private let segments: [(name: String, value: String)]
    private var values: [(name: String, value: any Sendable)] = []

    /// Parses the parameters of a request.
    ///
    /// - Throws: ``Problem`` (400) if parameters do not match their declarations, with an entry in ``Problem/errors`` for each.
    init(_ request: ServerRequest, _ route: Route, at resource: Resource, now: Int64) throws(Problem) {
        self.request = request
        self.now = now
        // The text is split by bytes, because HTTP does not use grapheme clusters.
        let target = request.head.path ?? ""
        let end = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        query = Query(end == target.endIndex ? "" : target[target.utf8.index(after: end)...])
        var decoded: [(name: String, value: String)] = []
        for (name, text) in resource.parameters(of: PercentCoding.normalised(target[..<end])) {
            guard let value = PercentCoding.decode(text) else {
                throw Problem(.badRequest, nil, "The path is not valid UTF-8.").naming(name, .invalid)
            }
            decoded.append((name, value))
        }
        segments = decoded
        let parameters = route.operation?.parameters ?? []
        values.reserveCapacity(parameters.count)
        var problem: Problem?
        for parameter in parameters {
            do throws(Problem) {
                values.append((parameter.description.name, try parameter.read(self)))
            } catch {
                // The first problem decides the response. It also names the other invalid parameters.
                if problem == nil { problem = error } else { problem?.errors += error.errors }
            }
        }
        if let problem { throw problem }
    }

    package var head: HTTPRequest { request.head }

    /// Returns the value of a parameter that the route declares. It was parsed before the handler was called.
    ///
    /// - Throws: ``Problem`` (400) if the route does not declare the parameter and its value is invalid.
    package subscript<Value>(_ parameter: Parameter<Value>) -> Value {
        get throws(Problem) {
            let read = values.first { $0.name == parameter.description.name }?.value
            if let value = read as? Value { return value }
            return try parameter.value(self)
        }
    }

    /// Returns a decoded path segment. Empty only for a name that the route's pattern does not contain.
    package func segment(_ name: String) -> String {
        segments.first { $0.name == name }?.value ?? ""
    }
}

/// Strong entity tags of content (RFC 9110 section 8.8.3).
package enum EntityTag {
    /// Returns an entity tag that differs for every body.
    package static func of(_ body: [UInt8]) -> String {
        "\"" + Hexadecimal.text(SHA256.hash(data: body).prefix(12)) + "\""
    }

    /// Returns the entity tag of a body with a known digest.
    package static func of(digest: Span<UInt8>) -> [UInt8] {
        var tag: [UInt8] = []
        tag.reserveCapacity(2 * digest.count + 2)
        tag.append(UInt8(ascii: "\""))
        for index in digest.indices {
            tag.append((digest[index] >> 4).hexadecimalDigit())
            tag.append(digest[index].hexadecimalDigit())
        }
        tag.append(UInt8(ascii: "\""))
        return tag
    }
}
