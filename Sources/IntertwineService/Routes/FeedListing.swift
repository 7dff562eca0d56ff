internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

struct FeedListing: Sendable {
    private let languages: LanguageReader
    private let response: EncodedResponse
    private let all: [EncodedResponse]

    init(in languages: LanguageReader, _ body: (FeedLanguage?) -> [UInt8]) {
        func encoded(_ language: FeedLanguage?) -> EncodedResponse {
            var fields: HTTPFields = [:]
            if !languages.fields.isEmpty { fields[.vary] = languages.fields.joined(separator: ", ") }
            fields[.contentLanguage] = language?.tag
            return Route.encoded("/feeds", type: "application/json", body(language), fields: fields)
        }
        self.languages = languages
        response = encoded(nil)
        all = languages.languages.all.map(encoded)
    }

    private static let operation = APIOperation(
        "getFeeds", tag: "Feed", "The feeds",
        "Each feed with its sections and its layouts.",
        parameters: [FeedParameters.acceptLanguage, FeedParameters.ifNoneMatch],
        responses: ResponseDescription.negotiated + [
            .json(
                .ok, "The feeds, by name.", .feeds, [.pageCaching, .eTag, .vary, .contentEncoding, .contentLanguage],
                example: """
                    {"feeds": [{"name": "main", "path": "/feed", "href": "/feed", "title": null, "layouts": ["collection", "table"], \
                    "sections": [{"name": "events", "title": "Events", "path": "/feeds/main/sections/events", \
                    "href": "/feeds/main/sections/events"}]}]}
                    """)
        ])

    var route: Route {
        Route(
            "/feeds", Self.operation,
            encoded: { request in languages.language(of: request.head).map { all[Int($0.number) - 1] } ?? response })
    }
}
