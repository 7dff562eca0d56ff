internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwineSample

/// The route `GET /sample/{file}`: the media files of the sample feed's video and sound ads. The host in the sample does not exist.
struct SampleMediaRoutes: Sendable {
    private static let folder = "/sample/"
    private static let pattern = folder + "{file}"
    private static let file = Parameter.segment("file", .string, "The file's name.", example: #""bakery.mp4""#)

    private static let hrefs = Dictionary(
        uniqueKeysWithValues: SampleMedia.files.map { ("\(SampleImages.origin)/\($0.name)", folder + $0.name) })

    /// Returns the href of a media source: a path of this service for a sample file, the unchanged source otherwise.
    static func href(of source: String) -> String { hrefs[source] ?? source }

    var routes: [Route] {
        [
            Route(.get, Self.pattern) { request in
                let name = try request[Self.file]
                guard let file = SampleMedia.files.first(where: { $0.name == name }) else {
                    throw Problem(.notFound, nil, "No resource at this path.")
                }
                return Self.response(file)
            }
        ]
    }

    private static func response(_ file: SampleMedia.File) -> ServerResponse {
        let fields: HTTPFields = [
            .contentType: file.mediaType, .cacheControl: "public, max-age=86400", .xContentTypeOptions: "nosniff",
            .crossOriginResourcePolicy: "cross-origin",
        ]
        var response = ServerResponse(status: .ok, fields: fields, body: file.bytes)
        response.entityTag = EntityTag.of(file.bytes)
        response.acceptsRanges = true
        return response
    }
}
