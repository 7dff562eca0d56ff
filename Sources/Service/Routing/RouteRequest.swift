internal import HTTPServer
internal import HTTPTypes

/// A request as a route sees it: its path taken apart, its query read.
struct RouteRequest: Sendable {
    let request: ServerRequest
    let query: Query
    private let parameters: [String: String]
    /// Milliseconds since 1970-01-01 UTC.
    let now: Int64

    init(_ request: ServerRequest, target: Target, parameters: [String: Substring], now: Int64) throws(Problem) {
        self.request = request
        self.now = now
        query = Query(target.query)
        var decoded: [String: String] = [:]
        for (name, text) in parameters {
            guard let value = PercentEncoding.decode(text) else { throw Problem(.badRequest, nil, "The path is not valid UTF-8.") }
            decoded[name] = value
        }
        self.parameters = decoded
    }

    var head: HTTPRequest { request.head }

    /// A segment of the path, decoded. Empty only for a name that the route's pattern does not have.
    func parameter(_ name: String) -> String {
        parameters[name] ?? ""
    }
}
