internal import HTTPTypes
internal import IntertwineHTTPServer

struct WebClientRoutes: Sendable {
    private static let patterns = ["", "client/", "client/element/"].map { (folder: $0, pattern: "/web-client/\($0){file}") }
    private static let file = Parameter.segment("file", .string, "The file's name.", example: #""main.mjs""#)

    /// Modules have it too, because the policy of a worker is that of its own script.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; media-src 'self' https: http:; connect-src 'self'; \
        frame-src http: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """

    private let files: [String: LazyResponse]

    init(viewerHeader: String, filteredFeeds: [String], operatorPort: Int, documents: String) {
        let files = WebClientFile.all.filter { !$0.isOfOperators }.map { file in
            let values = [
                ("viewer-header", "X-Viewer-ID", viewerHeader), ("filtered-feeds", "", filteredFeeds.joined(separator: " ")),
                ("operator-port", "8081", String(operatorPort)), ("documents", "", documents),
            ]
            let bytes = file.name.hasSuffix(".html") ? Self.page(file.bytes, values) : file.bytes
            let pattern = file.name == "index.html" ? "/" : Self.patterns.last { file.name.hasPrefix($0.folder) }?.pattern ?? "/"
            return (file.name, Self.content(file, bytes, policy: Self.policy, route: pattern))
        }
        self.files = Dictionary(files, uniquingKeysWith: { first, _ in first })
    }

    var routes: [Route] {
        [Route("/", encoded: { _ in try response("index.html") })]
            + Self.patterns.map { folder, pattern in
                Route(
                    pattern,
                    encoded: { request throws(Problem) in
                        let name = try folder + request[Self.file]
                        // It has a path of its own.
                        if name == "index.html" { throw Self.notFound }
                        return try response(name)
                    })
            }
    }

    private static var notFound: Problem { Problem(.notFound, nil, "No resource at this path.") }

    private func response(_ name: String) throws(Problem) -> EncodedResponse {
        guard let file = files[name] else { throw Self.notFound }
        return file.response
    }

    /// Only two characters have a meaning in an attribute.
    private static func page(_ bytes: [UInt8], _ values: [(name: String, old: String, new: String)]) -> [UInt8] {
        var markup = String(decoding: bytes, as: UTF8.self)
        for (name, old, new) in values {
            let content = new.split(separator: "&", omittingEmptySubsequences: false).joined(separator: "&amp;")
                .split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "&quot;")
            markup = markup.split(separator: #"name="\#(name)" content="\#(old)""#, omittingEmptySubsequences: false)
                .joined(separator: #"name="\#(name)" content="\#(content)""#)
        }
        return Array(markup.utf8)
    }

    static func content(_ file: WebClientFile, _ bytes: [UInt8], policy: String, route: String) -> LazyResponse {
        LazyResponse {
            let fields: HTTPFields = [
                .contentType: file.contentType, .cacheControl: "no-cache", .xContentTypeOptions: "nosniff", .contentSecurityPolicy: policy,
            ]
            var response = ServerResponse(status: .ok, fields: fields, body: bytes)
            response.entityTag = EntityTag.of(bytes)
            response.isCompressible = true
            return EncodedResponse(response, compressionLevel: 6, route: route)
        }
    }
}
