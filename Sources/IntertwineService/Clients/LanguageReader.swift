internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

struct LanguageReader: Sendable {
    let languages: FeedLanguages
    private let viewerField: HTTPField.Name?
    private let viewerFieldName: String?

    init(_ languages: FeedLanguages, viewerField: String = "") {
        self.languages = languages
        self.viewerField = HTTPField.Name(viewerField)
        viewerFieldName = self.viewerField?.canonicalName
    }

    var fields: [String] {
        languages.isEmpty ? [] : [viewerField?.rawName, HTTPField.Name.acceptLanguage.rawName].compactMap { $0 }
    }

    func language(of request: HTTPRequest) -> FeedLanguage? {
        guard !languages.isEmpty else { return nil }
        return language(
            viewers: viewerField.map { request.headerFields[values: $0] } ?? [], accepted: request.headerFields[values: .acceptLanguage])
    }

    func language(of head: borrowing RequestHead) -> FeedLanguage? {
        guard !languages.isEmpty else { return nil }
        var (viewers, accepted): ([String], [String]) = ([], [])
        head.forEachField { name, value in
            if name == viewerFieldName { viewers.append(value()) }
            if name == "accept-language" { accepted.append(value()) }
        }
        return language(viewers: viewers, accepted: accepted)
    }

    private func language(viewers: [String], accepted: [String]) -> FeedLanguage? {
        for values in [viewers, accepted] where !values.isEmpty {
            let preferences = LanguagePreferences(values.joined(separator: ","))
            if let language = languages.language(for: preferences) { return language }
        }
        return languages.usual
    }
}
