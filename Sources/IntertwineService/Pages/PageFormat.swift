internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

/// A class, because every page in progress holds a reference to it.
final class PageFormat: Sendable {
    /// The gzip level. Why: a higher level saves 6 % of a page's encoded bytes, and takes as long as all other work for the page.
    private static let compressionLevel = 1

    private struct CacheScope: Sendable {
        let heads: (shared: ResponseHeadTemplate, named: ResponseHeadTemplate, own: ResponseHeadTemplate)
        let sharedFields: HTTPFields
        let namedFields: HTTPFields
        let ownFields: HTTPFields

        static let cells = "Accept-Cells"

        init(vary: [String], maxAge: Int64, language: FeedLanguage?) {
            func fields(_ vary: [String], _ caching: String) -> HTTPFields {
                var fields: HTTPFields = [.contentType: "application/json"]
                if !vary.isEmpty { fields[.vary] = vary.joined(separator: ", ") }
                fields[.cacheControl] = caching
                fields[.contentLanguage] = language?.tag
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

    /// The forms without a language and in each language.
    private let forms: [CacheScope]
    /// The forms of responses that no cache may use without revalidation.
    private let revalidated: [CacheScope]
    /// Milliseconds.
    private let maxAge: Int64
    private let schedules: ScheduleMonitor?

    init(viewerFields: [String], languages: LanguageReader = LanguageReader(.none), maxAge: Int64, schedules: ScheduleMonitor? = nil) {
        let vary = viewerFields + [CacheScope.cells] + languages.fields
        func forms(_ maxAge: Int64) -> [CacheScope] {
            ([nil] + languages.languages.all).map { CacheScope(vary: vary, maxAge: maxAge, language: $0) }
        }
        (self.forms, self.maxAge, self.schedules) = (forms(maxAge), maxAge * 1_000, schedules)
        revalidated = maxAge > 0 ? forms(0) : self.forms
    }

    private func form(_ language: FeedLanguage?, isBrief: Bool = false) -> CacheScope {
        let forms = isBrief ? revalidated : forms
        guard let language, forms.indices.contains(Int(language.number)) else { return forms[0] }
        return forms[Int(language.number)]
    }

    /// Returns true if a response changes while other caches may use it, because an item becomes public or expires.
    private func isBrief(until expiry: Int64, _ now: Int64) -> Bool { min(expiry, schedules?.nextChange ?? .max) < now &+ maxAge }

    /// Returns the time until which a response of now may be repeated.
    func end(of page: FeedPage, _ now: Int64) -> Int64 {
        let change = min(page.expiry, schedules?.nextChange ?? .max)
        return isBrief(until: page.expiry, now) ? change : change &- maxAge
    }

    func encoded(
        _ page: FeedPage, isShared: Bool, isNamed: Bool = false, gzip: Bool, isCached: Bool = false, route: String? = nil, now: Int64 = 0
    )
        -> EncodedResponse
    {
        let (body, digest) = page.encoded()
        if let age = page.age {
            return aged(page, body, EntityTag.of(digest: digest.span), age, isShared: isShared, isNamed: isNamed, gzip: gzip, route: route)
        }
        let heads = form(page.language, isBrief: isShared && isBrief(until: page.expiry, now)).heads
        return EncodedResponse(
            body, !isShared ? heads.own : isNamed ? heads.named : heads.shared, field: page.link.map { HTTPField(name: .link, value: $0) },
            entityTag: EntityTag.of(digest: digest.span), compressionLevel: gzip ? Self.compressionLevel : nil, isCached: isCached,
            route: route
        )
    }

    /// Its `Age` is at least one second, so that it differs from a page of the newest data.
    private func aged(
        _ page: FeedPage, _ body: [UInt8], _ entityTag: [UInt8], _ age: Duration, isShared: Bool, isNamed: Bool, gzip: Bool,
        route: String?
    ) -> EncodedResponse {
        // How old the schedules are is not known either.
        let form = form(page.language, isBrief: page.expiry < .max || schedules?.nextChange != .max)
        var response = ServerResponse(
            status: .ok, fields: !isShared ? form.ownFields : isNamed ? form.namedFields : form.sharedFields, body: body)
        response.fields[.link] = page.link
        response.fields[.age] = String(max(1, age.components.seconds))
        response.entityTag = String(decoding: entityTag, as: UTF8.self)
        response.isCompressible = true
        return EncodedResponse(response, compressionLevel: gzip ? Self.compressionLevel : nil, route: route)
    }

    func response(_ page: FeedPage, to request: HTTPRequest) -> EncodedResponse {
        encoded(page, isShared: false, gzip: request.mayAcceptGzip)
    }

    func response(_ cell: FeedPage.Entry, isShared: Bool, isNamed: Bool, in language: FeedLanguage?, now: Int64) -> ServerResponse {
        let body = cell.json
        let form = form(language, isBrief: isBrief(until: cell.expiry, now))
        let fields = !isShared ? form.ownFields : isNamed ? form.namedFields : form.sharedFields
        var response = ServerResponse(status: .ok, fields: fields, body: body)
        response.entityTag = EntityTag.of(body)
        response.isCompressible = true
        return response
    }

    /// Returns the response with the changes of pages that must not be cached.
    func unkept(_ changes: FeedChanges, in language: FeedLanguage?) -> ServerResponse {
        var fields: HTTPFields = [:]
        fields[.contentLanguage] = language?.tag
        return .noStore(encoded: changes.json(), fields: fields)
    }

    func response(_ changes: FeedChanges, in language: FeedLanguage?) -> ServerResponse {
        let body = changes.json()
        var response = ServerResponse(status: .ok, fields: form(language).ownFields, body: body)
        response.entityTag = EntityTag.of(body)
        response.isCompressible = true
        // A client that accepts event streams gets one.
        response.fields.append(HTTPField(name: .vary, value: "Accept"))
        return response
    }
}

extension HTTPRequest {
    /// False if no coding of the client can be gzip, so that a page is not compressed in vain: some clients send `identity`.
    var mayAcceptGzip: Bool { headerFields[.acceptEncoding].map { $0.contains("*") || $0.lowercased().contains("gzip") } ?? false }
}
