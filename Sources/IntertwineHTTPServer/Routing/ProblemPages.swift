internal import HTTPTypes

/// The pages `GET /problems/{name}`: an explanation of each problem type, generated from the descriptions of the routes.
/// The URI of a problem type leads to its page, so that a client's author can follow the `type` of a problem.
package struct ProblemPages: Sendable {
    private struct Entry {
        let kind: Problem.ProblemType
        var rows: [(status: HTTPResponse.Status, operation: String, text: String)] = []
        var example: Problem?

        mutating func add(_ occurrence: ResponseDescription.ProblemOccurrence, of operation: String) {
            rows.append((occurrence.status, operation, occurrence.text))
            if example == nil { example = occurrence.example }
        }
    }

    private static let pattern = "/problems/{name}"
    private static let name = Parameter.segment(
        "name", .string(minLength: 1), "The name, the last segment of a problem's `type`.", example: #""invalid-parameter""#)

    private let pages: [String: LazyResponse]
    private let caching: ResponseDescription.Header

    package init(
        describing routes: [Route], common: [ResponseDescription], caching: ResponseDescription.Header,
        amended: @escaping @Sendable (String) -> String = { $0 }
    ) {
        self.caching = caching
        var entries: [String: Entry] = [:]
        func add(_ responses: [ResponseDescription], of operation: String) {
            for occurrence in responses.flatMap(\.problems) {
                entries[occurrence.kind.rawValue, default: Entry(kind: occurrence.kind)].add(occurrence, of: operation)
            }
        }
        add(common, of: "every operation")
        for route in routes { add(route.operation?.responses ?? [], of: "\(route.method.rawValue) \(route.pattern)") }
        pages = entries.mapValues { entry in
            LazyResponse {
                Route.encoded(
                    Self.pattern, type: Self.mediaType, Array(amended(Self.page(entry)).utf8),
                    fields: [.xContentTypeOptions: "nosniff", .contentSecurityPolicy: Self.policy])
            }
        }
    }

    package var paths: Set<String> { Set(pages.keys.map { "/problems/\($0)" }) }

    package var route: Route {
        let policy = ResponseDescription.Header(
            "Content-Security-Policy", "The page loads nothing.", isRequired: true, example: Self.policy)
        let options = ResponseDescription.Header(
            "X-Content-Type-Options", "Browsers must not guess the media type.", .word("nosniff"), isRequired: true)
        let operation = APIOperation(
            "getProblemType", tag: "Description", "The page of a problem type",
            "The explanation of a problem type, its statuses and operations, and an example.",
            parameters: [Self.name, Parameter.ifNoneMatch],
            responses: [
                .notAcceptable, .preconditionFailed,
                .empty(
                    .notModified, "The client has the current page.",
                    [
                        .init("ETag", "The validator of the page."), .init("Cache-Control", "As in 200."), .init("Vary", "As in 200."),
                        policy, options,
                    ]),
                .json(
                    .ok, "An HTML page.", .string, [caching, .eTag, .vary, .contentEncoding, policy, options], type: Self.mediaType,
                    example: #""<!DOCTYPE html>…""#),
                .problem(.notFound, "There is no such problem type.", [.init(nil, "There is no such problem type.")]),
            ])
        return Route(
            Self.pattern, operation,
            encoded: { [pages] request in
                let name = try request[Self.name]
                guard let page = pages[name] ?? pages[Self.family(of: name)] else {
                    throw Problem(.notFound, nil, "There is no such problem type.")
                }
                return page.response
            })
    }

    private static func family(of name: String) -> String {
        let end = name.utf8.suffix(4)
        guard end.count == 4, end.first == UInt8(ascii: "-"), end.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }) else {
            return name
        }
        return name.dropLast(3) + "status"
    }

    private static let mediaType = "text/html; charset=utf-8"
    private static let policy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    private static func page(_ entry: Entry) -> String {
        let rows = entry.rows.map { row in
            "<tr><td>\(row.status.code)</td><td>\(code(row.operation))</td><td>\(escaped(row.text))</td></tr>"
        }
        let example = entry.example.map { example in
            "<h2>Example</h2>\n<pre><code>\(escaped(String(decoding: example.json(), as: UTF8.self)))</code></pre>\n"
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <meta name="color-scheme" content="light dark">
            <title>\(escaped(entry.kind.title))</title>
            </head>
            <body>
            <h1>\(escaped(entry.kind.title))</h1>
            <p>\(escaped(entry.kind.explanation))</p>
            <p>Problem type: \(code(entry.kind.uri))</p>
            <h2>Responses</h2>
            <table>
            <tr><th>Status</th><th>Operation</th><th>Response</th></tr>
            \(rows.joined(separator: "\n"))
            </table>
            \(example ?? "")<p>The complete description is <a href="/openapi.json">/openapi.json</a>.</p>
            </body>
            </html>

            """
    }

    private static func code(_ text: String) -> String { "<code>\(escaped(text))</code>" }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
    }
}
