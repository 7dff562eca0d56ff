internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineRouting

/// Makes the answer that carries a page.
///
/// A class, as every page that is being made holds it.
final class PageFormat: Sendable {
    /// What a page gains by a higher one, 6 % of its coded bytes, takes as long as all else that is done for it.
    private static let compressionLevel = 1

    /// What answers in one language have in common.
    private struct CacheScope: Sendable {
        /// Of pages that are the same for everyone, of those of them whose URL names what the client can show, and of a viewer's.
        let heads: (shared: ResponseHeadTemplate, named: ResponseHeadTemplate, own: ResponseHeadTemplate)
        /// Of whatever else is made for them.
        let sharedFields: HTTPFields
        let namedFields: HTTPFields
        let ownFields: HTTPFields

        /// Read where the URL names no client.
        static let cells = "Accept-Cells"

        init(vary: [String], maxAge: Int64, variesByOrigin: Bool, language: FeedLanguage?) {
            func fields(_ vary: [String], _ caching: String) -> HTTPFields {
                var fields: HTTPFields = [.contentType: "application/json"]
                if !vary.isEmpty { fields[.vary] = vary.joined(separator: ", ") }
                fields[.cacheControl] = caching
                fields[.contentLanguage] = language?.tag
                if variesByOrigin { fields.append(contentsOf: CORSPolicy.vary) }
                return fields
            }
            func head(_ fields: HTTPFields) -> ResponseHeadTemplate {
                var response = ServerResponse(status: .ok, fields: fields)
                response.isCompressible = true
                return ResponseHeadTemplate(response)
            }
            let caching = maxAge > 0 ? "public, max-age=\(maxAge)" : "no-cache"
            sharedFields = fields(vary, caching)
            namedFields = fields(vary.filter { $0 != Self.cells }, caching)
            ownFields = fields(vary, "private, no-cache")
            heads = (head(sharedFields), head(namedFields), head(ownFields))
        }
    }

    private let plain: CacheScope
    /// By ``FeedLanguage/number``, from 1.
    private let forms: [CacheScope]

    /// - Parameters:
    ///   - viewerField: the request field that names the viewer: answers differ by it. Empty where there are no viewers.
    ///   - languages: those that texts are declared in.
    ///   - maxAge: seconds.
    ///   - variesByOrigin: whether answers differ by the request's origin too.
    init(viewerField: String, languages: LanguageReader = LanguageReader(.none), maxAge: Int64, variesByOrigin: Bool = false) {
        let vary = (viewerField.isEmpty ? [] : [viewerField]) + [CacheScope.cells] + languages.fields
        func form(_ language: FeedLanguage?) -> CacheScope {
            CacheScope(vary: vary, maxAge: maxAge, variesByOrigin: variesByOrigin, language: language)
        }
        plain = form(nil)
        forms = languages.languages.all.map(form)
    }

    private func form(_ language: FeedLanguage?) -> CacheScope {
        guard let language, forms.indices.contains(Int(language.number) - 1) else { return plain }
        return forms[Int(language.number) - 1]
    }

    /// - Parameters:
    ///   - isShared: whether the page is the same for everyone.
    ///   - isNamed: whether its URL names what the client can show.
    ///   - gzip: whether it is compressed too, on the caller's thread.
    ///   - isKept: whether it may be served more than once.
    ///   - route: the name of the route in observations; nil where the request has it.
    func encoded(_ page: FeedPage, isShared: Bool, isNamed: Bool = false, gzip: Bool, isCached: Bool = false, route: String? = nil)
        -> EncodedResponse
    {
        let (body, digest) = page.encoded()
        let heads = form(page.language).heads
        return EncodedResponse(
            body, !isShared ? heads.own : isNamed ? heads.named : heads.shared, field: page.link.map { HTTPField(name: .link, value: $0) },
            entityTag: EntityTag.of(digest: digest.span), compressionLevel: gzip ? Self.compressionLevel : nil, isCached: isCached,
            route: route
        )
    }

    /// A page of a viewer's own.
    func response(_ page: FeedPage, to request: HTTPRequest) -> ServerResponse {
        ServerResponse(encoded(page, isShared: false, gzip: request.headerFields[.acceptEncoding] != nil))
    }

    /// One cell. Its bytes are its own validator.
    func response(_ cell: FeedPage.Entry, isShared: Bool, isNamed: Bool, in language: FeedLanguage?) -> ServerResponse {
        let body = cell.json
        let form = form(language)
        let fields = !isShared ? form.ownFields : isNamed ? form.namedFields : form.sharedFields
        var response = ServerResponse(status: .ok, fields: fields, body: body)
        response.entityTag = EntityTag.of(body)
        response.isCompressible = true
        return response
    }

    /// What became of pages, for whoever asked in a way that nothing is kept of.
    func unkept(_ changes: FeedChanges, in language: FeedLanguage?) -> ServerResponse {
        var fields: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        fields[.contentLanguage] = language?.tag
        return ServerResponse(status: .ok, fields: fields, body: changes.json())
    }

    /// What became of pages. Whoever asks again with its tag is answered in a few bytes as long as nothing more happens.
    func response(_ changes: FeedChanges, in language: FeedLanguage?) -> ServerResponse {
        let body = changes.json()
        var response = ServerResponse(status: .ok, fields: form(language).ownFields, body: body)
        response.entityTag = EntityTag.of(body)
        response.isCompressible = true
        // Whoever wants events gets those.
        response.fields.append(HTTPField(name: .vary, value: "Accept"))
        return response
    }
}
