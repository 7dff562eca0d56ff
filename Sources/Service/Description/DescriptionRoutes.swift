internal import HTTPServer
internal import HTTPTypes

/// `GET /openapi.json` and `GET /schemas/cell.json`; on the operators' listener, `GET /openapi.json` with the description of that.
struct DescriptionRoutes: Sendable {
    /// What describes the operators' listener: `operators.json`, which lies beside this file and is compiled into the binary.
    static var ofOperators: Route { route(APIDescription.path, "application/json", PackageResources.operators_json) }

    let routes: [Route]

    init(_ description: APIDescription) {
        routes = [
            Self.route(APIDescription.path, "application/json", description.document),
            Self.route(CellSchema.path, CellSchema.mediaType, description.cellSchema.document),
        ]
    }

    /// Finished once, both codings, for as long as the service runs.
    private static func route(_ path: String, _ type: String, _ body: [UInt8]) -> Route {
        var response = ServerResponse(status: .ok, fields: [.contentType: type, .cacheControl: "no-cache"], body: body)
        response.entityTag = PageFormat.entityTag(of: body)
        response.isCompressible = true
        let canned = CannedResponse(response, compressionLevel: PageFormat.compressionLevel, route: path)
        return Route(.get, path) { _ in ServerResponse(canned) }
    }
}
