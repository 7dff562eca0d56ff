internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

/// Chooses the language of a response from the declared languages.
///
/// The order is: the language of the viewer's own field, the most preferred language of `Accept-Language`, the first declared language.
/// The number of variants of a response is limited to the declared languages. If none is declared, no field is read.
struct LanguageReader: Sendable {
    let languages: FeedLanguages
    private let viewerField: HTTPField.Name?
    /// The name of the viewer's language field, in lower case.
    private let viewerFieldName: String?

    /// - Parameter viewerField: The request field with the viewer's language, which a trusted proxy sets; empty for none.
    init(_ languages: FeedLanguages, viewerField: String = "") {
        self.languages = languages
        self.viewerField = HTTPField.Name(viewerField)
        viewerFieldName = self.viewerField?.canonicalName
    }

    /// The request fields by which responses vary; empty if no language is declared.
    var fields: [String] {
        languages.isEmpty ? [] : [viewerField?.rawName, HTTPField.Name.acceptLanguage.rawName].compactMap { $0 }
    }

    func language(of request: HTTPRequest) -> FeedLanguage? {
        guard !languages.isEmpty else { return nil }
        return language(
            viewers: viewerField.map { request.headerFields[values: $0] } ?? [], accepted: request.headerFields[values: .acceptLanguage])
    }

    /// Returns the language for the head of an unparsed request.
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
