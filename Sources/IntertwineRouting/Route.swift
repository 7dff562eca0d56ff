internal import Crypto
package import HTTPTypes
package import IntertwineHTTPServer
internal import IntertwinePrimitives

/// One method on one pattern of paths: what answers it, and how it is described.
///
/// The declaration is the only one: the router serves by it, refuses what does not fit its parameters, and ``OpenAPIDocument`` is made of it.
package struct Route: Sendable {
    package typealias Handle = @Sendable (RouteRequest) async throws -> ServerResponse

    package let method: HTTPRequest.Method
    /// Segments of the path; one in braces stands for any, whatever follows the braces for itself: `/schemas/cells/{identifier}.json`.
    package let pattern: String
    /// Nil for what is no part of the API.
    package var operation: APIOperation?
    /// The most bytes of a body; the server's default where nil.
    package var bodyLimit: Int?
    /// Whether a client that closes its side has lost interest in the answer.
    package var cancelsOnPeerClose = false
    /// How long the answer may take; the server's default where nil.
    package var timeLimit: Duration?
    /// Whether the route reads the body as it arrives.
    package var streamsBody = false
    /// What its answers tell clients of its end; nil where none is planned.
    package var deprecation: Deprecation?
    package var handle: Handle

    package init(
        _ method: HTTPRequest.Method, _ pattern: String, _ operation: APIOperation? = nil, bodyLimit: Int? = nil,
        cancelsOnPeerClose: Bool = false, timeLimit: Duration? = nil, streamsBody: Bool = false, _ handle: @escaping Handle
    ) {
        self.method = method
        self.pattern = pattern
        self.operation = operation
        self.bodyLimit = bodyLimit
        self.cancelsOnPeerClose = cancelsOnPeerClose
        self.timeLimit = timeLimit
        self.streamsBody = streamsBody
        self.handle = handle
    }

    /// Content that is finished once, in both codings, for as long as the route is there: asked for again, it is 304.
    ///
    /// - Parameter body: asked for with the first request.
    package static func content(
        _ pattern: String, _ operation: APIOperation? = nil, type: String, _ body: @escaping @Sendable @autoclosure () -> [UInt8]
    ) -> Route {
        let content = LazyResponse { finished(pattern, type: type, body()) }
        return Route(.get, pattern, operation) { _ in ServerResponse(content.response) }
    }

    /// The answer of such a route.
    package static func finished(_ pattern: String, type: String, _ body: [UInt8], fields: HTTPFields = [:]) -> EncodedResponse {
        var fields = fields
        fields[.contentType] = type
        fields[.cacheControl] = "no-cache"
        var response = ServerResponse(status: .ok, fields: fields, body: body)
        response.entityTag = EntityTag.of(body)
        response.isCompressible = true
        return EncodedResponse(response, compressionLevel: 6, route: pattern)
    }
}

/// A request as a route sees it: matched, and its parameters read.
package struct RouteRequest: Sendable {
    package let request: ServerRequest
    /// Milliseconds since 1970-01-01 UTC.
    package let now: Int64
    package let query: Query
    private let segments: [(name: String, value: String)]
    private var values: [(name: String, value: any Sendable)] = []

    /// - Throws: ``Problem`` (400) where a parameter is not as the route declares it.
    init(_ request: ServerRequest, _ match: RouteMatch, now: Int64) throws(Problem) {
        self.request = request
        self.now = now
        query = Query(match.query)
        var decoded: [(name: String, value: String)] = []
        for (name, text) in match.segments {
            guard let value = PercentCoding.decode(text) else { throw Problem(.badRequest, nil, "The path is not valid UTF-8.") }
            decoded.append((name, value))
        }
        segments = decoded
        let parameters = match.route.operation?.parameters ?? []
        values.reserveCapacity(parameters.count)
        for parameter in parameters {
            values.append((parameter.description.name, try parameter.read(self)))
        }
    }

    package var head: HTTPRequest { request.head }

    /// The value of a parameter that the route declares, read before the route was asked.
    ///
    /// - Throws: ``Problem`` (400), of one that the route does not declare and that is wrong.
    package subscript<Value>(_ parameter: Parameter<Value>) -> Value {
        get throws(Problem) {
            let read = values.first { $0.name == parameter.description.name }?.value
            if let value = read as? Value { return value }
            return try parameter.value(self)
        }
    }

    /// A segment of the path, decoded. Empty only for a name that the route's pattern does not have.
    package func segment(_ name: String) -> String {
        segments.first { $0.name == name }?.value ?? ""
    }
}

/// Strong validators of content (RFC 9110 section 8.8.3).
package enum EntityTag {
    /// Another one for every other body.
    package static func of(_ body: [UInt8]) -> String {
        "\"" + Hexadecimal.text(SHA256.hash(data: body).prefix(12)) + "\""
    }

    /// The tag of a body that has a digest.
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
