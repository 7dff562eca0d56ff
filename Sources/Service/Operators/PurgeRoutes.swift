internal import Fetch
internal import HTTPServer
internal import HTTPTypes
internal import Images

/// `DELETE /admin/images?url=…`: forgets a picture, in memory and on disk.
struct PurgeRoutes: Sendable {
    let manager: ImageNetworkManager

    var routes: [Route] {
        [
            Route(.delete, "/admin/images") { request in
                guard let text = try request.query.text("url"), let url = try? FetchURL(text) else {
                    throw Problem(.badRequest, .invalidParameter, "url must be the absolute http or https URL of a picture's source.")
                }
                await manager.purge(url.text)
                return ServerResponse(status: .noContent)
            }
        ]
    }
}
