package import HTTPTypes
internal import IntertwinePrimitives

package struct Route: Sendable {
    package typealias Handle = @Sendable (RouteRequest) async throws -> HandlerResponse
    package typealias CachedLookup = @Sendable (borrowing RequestHead, RouteMatch) -> EncodedResponse?
    package typealias PendingHandle = @Sendable (borrowing RequestHead, RouteMatch) -> HandlerResult.PendingStart?
    package typealias Around = @Sendable (borrowing RequestHead, PeerAddress, any HTTPHandler) -> HandlerResult

    package let method: HTTPRequest.Method
    package let pattern: String
    package var operation: APIOperation?
    package var cached: CachedLookup?
    /// The responses without a task to requests that have no body and no escapes in their path; nil if there are none. Why: a task and a
    /// parsed head would cost more than all other work for a click.
    package var pending: PendingHandle?
    package var handle: Handle
    package var around: Around?
    package let bodyLimit: Int?
    package let cancelsOnPeerClose: Bool
    package let timeLimit: Duration?
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

    package init(
        _ pattern: String, _ operation: APIOperation? = nil, cached: CachedLookup? = nil, pending: PendingHandle? = nil,
        encoded handle: @escaping @Sendable (RouteRequest) async throws -> EncodedResponse
    ) {
        (method, self.pattern, self.operation) = (.get, pattern, operation)
        (bodyLimit, cancelsOnPeerClose, timeLimit, streamsBody) = (nil, false, nil, false)
        (self.cached, self.pending) = (cached, pending)
        self.handle = { .encoded(try await handle($0)) }
    }

    package static func content(
        _ pattern: String, _ operation: APIOperation? = nil, type: String, _ body: @escaping @Sendable @autoclosure () -> [UInt8]
    ) -> Route {
        let content = LazyResponse { encoded(pattern, type: type, body()) }
        return Route(pattern, operation, encoded: { _ in content.response })
    }

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

package struct RouteRequest: Sendable {
    package let request: ServerRequest
    /// The time in milliseconds since 1970-01-01 UTC.
    package let now: Int64
    package let query: Query
    private let segments: [(name: String, value: String)]
    private var values: [(name: String, value: any Sendable)] = []

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

    package subscript<Value>(_ parameter: Parameter<Value>) -> Value {
        get throws(Problem) {
            let read = values.first { $0.name == parameter.description.name }?.value
            if let value = read as? Value { return value }
            return try parameter.value(self)
        }
    }

    package func segment(_ name: String) -> String {
        segments.first { $0.name == name }?.value ?? ""
    }
}

/// Strong entity tags of content (RFC 9110 section 8.8.3).
package enum EntityTag {
    package static func of(_ body: [UInt8]) -> String {
        "\"" + Hexadecimal.text(SHA256.hash(data: body).prefix(12)) + "\""
    }

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
