internal import Crypto
internal import Feed
internal import HTTPServer
internal import HTTPTypes

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
        response.entityTag = Self.entityTag(of: body)
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
        response.entityTag = Self.entityTag(of: body)
        response.isCompressible = true
        return response
    }

    /// A strong validator: another one for every other body.
    static func entityTag(of body: [UInt8]) -> String {
        "\"" + SHA256.hash(data: body).prefix(12).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "\""
    }
}
