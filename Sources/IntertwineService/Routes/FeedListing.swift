internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer

struct FeedListing: Sendable {
    private let languages: LanguageReader
    private let filteredFeeds: [String: FeedAssembler]
    private let encoded: @Sendable (FeedLanguage?, [String: [[FilterValue]]]) -> EncodedResponse
    private let response: EncodedResponse
    private let all: [EncodedResponse]

    init(
        in languages: LanguageReader, filteredFeeds: [String: FeedAssembler] = [:],
        _ body: @escaping @Sendable (FeedLanguage?, [String: [[FilterValue]]]) -> [UInt8]
    ) {
        let encoded = { @Sendable (language: FeedLanguage?, filters: [String: [[FilterValue]]]) in
            var fields: HTTPFields = [:]
            if !languages.fields.isEmpty { fields[.vary] = languages.fields.joined(separator: ", ") }
            fields[.contentLanguage] = language?.tag
            return Route.encoded("/feeds", type: "application/json", body(language, filters), fields: fields)
        }
        (self.languages, self.filteredFeeds, self.encoded) = (languages, filteredFeeds, encoded)
        response = encoded(nil, [:])
        all = languages.languages.all.map { encoded($0, [:]) }
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
            encoded: { request in
                let language = languages.language(of: request.head)
                guard !filteredFeeds.isEmpty else { return language.map { all[Int($0.number) - 1] } ?? response }
                var filters: [String: [[FilterValue]]] = [:]
                for (name, feed) in filteredFeeds { filters[name] = try await feed.values() }
                return encoded(language, filters)
            })
    }
}
