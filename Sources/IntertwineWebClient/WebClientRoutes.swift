internal import HTTPTypes
internal import IntertwineHTTPServer
package import IntertwineRouting

/// The routes of the web client, which shows a feed in a browser: `GET /`, `GET /web-client/{file}` and, for its client package and the
/// element of that package, `GET /web-client/client/{file}` and `GET /web-client/client/element/{file}`.
package struct WebClientRoutes: Sendable {
    private static let pattern = "/web-client/{file}"
    private static let clientPattern = "/web-client/client/{file}"
    private static let elementPattern = "/web-client/client/element/{file}"
    private static let file = Parameter.segment("file", .string, "The file's name.", example: #""main.mjs""#)

    /// The responses by path, encoded once in both content codings.
    private let files: [String: LazyResponse]

    /// - Parameter viewerHeader: The request field that names the viewer.
    package init(viewerHeader: String) {
        let files = WebClientResource.all(viewerHeader: viewerHeader).map { resource in
            (resource.path, Self.content(resource, route: Self.pattern(of: resource.path)))
        }
        self.files = Dictionary(files, uniquingKeysWith: { first, _ in first })
    }

    package var routes: [Route] {
        [
            Route("/", encoded: { _ in try file("/") }),
            Route(Self.pattern, encoded: { try file("/web-client/" + $0[Self.file]) }),
            Route(Self.clientPattern, encoded: { try file("/web-client/client/" + $0[Self.file]) }),
            Route(Self.elementPattern, encoded: { try file("/web-client/client/element/" + $0[Self.file]) }),
        ]
    }

    private static func pattern(of path: String) -> String {
        if path.hasPrefix("/web-client/client/element/") { return elementPattern }
        if path.hasPrefix("/web-client/client/") { return clientPattern }
        return path == "/" ? path : pattern
    }

    private func file(_ path: String) throws(Problem) -> EncodedResponse {
        guard let file = files[path] else { throw Problem(.notFound, nil, "No resource at this path.") }
        return file.response
    }

    static func content(
        _ resource: WebClientResource, policy: String = WebClientResource.contentSecurityPolicy, route: String
    ) -> LazyResponse {
        LazyResponse {
            let fields: HTTPFields = [
                .contentType: resource.contentType, .cacheControl: "no-cache", .xContentTypeOptions: "nosniff",
                .contentSecurityPolicy: policy,
            ]
            var response = ServerResponse(status: .ok, fields: fields, body: resource.bytes)
            response.entityTag = EntityTag.of(resource.bytes)
            response.isCompressible = true
            return EncodedResponse(response, compressionLevel: 6, route: route)
        }
    }
}
