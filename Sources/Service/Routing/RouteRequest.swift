internal import HTTPServer
internal import HTTPTypes

/// A request as a route sees it: its path taken apart, its query read.
struct RouteRequest: Sendable {
    let request: ServerRequest
    let query: Query
    private let parameters: [(name: String, value: String)]
    /// Milliseconds since 1970-01-01 UTC.
    let now: Int64

    init(_ request: ServerRequest, target: Target, parameters: [(name: String, value: Substring)], now: Int64) throws(Problem) {
        self.request = request
        self.now = now
        query = Query(target.query)
        var decoded: [(name: String, value: String)] = []
        for (name, text) in parameters {
            guard let value = PercentEncoding.decode(text) else { throw Problem(.badRequest, nil, "The path is not valid UTF-8.") }
            decoded.append((name, value))
        }
        self.parameters = decoded
    }

    var head: HTTPRequest { request.head }

    /// A segment of the path, decoded. Empty only for a name that the route's pattern does not have.
    func parameter(_ name: String) -> String {
        parameters.first { $0.name == name }?.value ?? ""
    }
}
