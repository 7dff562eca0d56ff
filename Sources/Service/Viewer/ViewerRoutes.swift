internal import HTTPServer
internal import HTTPTypes

/// `GET /` and `/viewer/…`: the page that shows the feed in a browser.
struct ViewerRoutes: Sendable {
    let routes: [Route]

    /// - Parameter viewerHeader: the request field that names the viewer.
    init(viewerHeader: String) {
        routes = ViewerResource.all(viewerHeader: viewerHeader).map { resource in
            // Finished once, both codings, for as long as the service runs.
            let canned = CannedResponse(Self.response(resource), compressionLevel: PageFormat.compressionLevel, route: resource.path)
            return Route(.get, resource.path) { _ in ServerResponse(canned) }
        }
    }

    private static func response(_ resource: ViewerResource) -> ServerResponse {
        let fields: HTTPFields = [
            .contentType: resource.contentType, .cacheControl: "no-cache", .xContentTypeOptions: "nosniff",
            .contentSecurityPolicy: ViewerResource.contentSecurityPolicy,
        ]
        var response = ServerResponse(status: .ok, fields: fields, body: resource.bytes)
        response.entityTag = PageFormat.entityTag(of: resource.bytes)
        response.isCompressible = true
        return response
    }
}
