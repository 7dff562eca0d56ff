internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineRouting

/// Makes the answer that carries a page.
struct PageFormat: Sendable {
    static let compressionLevel = 6

    /// The request field that names the viewer: answers differ by it. Empty where there are no viewers.
    let viewerField: String
    /// Seconds.
    let maxAge: Int64
    /// Whether answers differ by the request's origin too.
    var variesByOrigin = false

    /// - Parameter isShared: whether the page is the same for everyone.
    func response(_ page: FeedPage, isShared: Bool) -> ServerResponse {
        let body = page.json()
        var fields: HTTPFields = [.contentType: "application/json"]
        if !viewerField.isEmpty { fields[.vary] = viewerField }
        fields[.cacheControl] = isShared ? (maxAge > 0 ? "public, max-age=\(maxAge)" : "no-cache") : "private, no-cache"
        fields[.link] = page.link
        if variesByOrigin { fields.append(contentsOf: CrossOriginPolicy.vary) }
        var response = ServerResponse(status: .ok, fields: fields, body: body)
        response.entityTag = EntityTag.of(body)
        response.isCompressible = true
        return response
    }

    /// What became of pages. Whoever asks again with its tag is answered in a few bytes as long as nothing more happens.
    func response(_ changes: FeedChanges) -> ServerResponse {
        let body = changes.json()
        var fields: HTTPFields = [.contentType: "application/json", .cacheControl: "private, no-cache"]
        if !viewerField.isEmpty { fields[.vary] = viewerField }
        if variesByOrigin { fields.append(contentsOf: CrossOriginPolicy.vary) }
        var response = ServerResponse(status: .ok, fields: fields, body: body)
        response.entityTag = EntityTag.of(body)
        response.isCompressible = true
        return response
    }
}
