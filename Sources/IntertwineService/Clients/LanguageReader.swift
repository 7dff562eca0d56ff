internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwinePrimitives

/// Reads from a request which of the declared languages it is answered in: that which the viewer's own field names, else the one that
/// `Accept-Language` wants most, else the first that is declared.
///
/// Whatever requests say, there are as many answers as languages that are declared; without any, nothing is read.
struct LanguageReader: Sendable {
    let languages: FeedLanguages
    private let viewerField: HTTPField.Name?
    /// In lower case.
    private let viewerFieldName: String?

    /// - Parameter viewerField: the request field with the viewer's language, set by whatever knows it; empty for none.
    init(_ languages: FeedLanguages, viewerField: String = "") {
        self.languages = languages
        self.viewerField = HTTPField.Name(viewerField)
        viewerFieldName = self.viewerField?.canonicalName
    }

    /// The request fields that answers differ by; none where no language is declared.
    var fields: [String] {
        languages.isEmpty ? [] : [viewerField?.rawName, HTTPField.Name.acceptLanguage.rawName].compactMap { $0 }
    }

    func language(of request: HTTPRequest) -> FeedLanguage? {
        guard !languages.isEmpty else { return nil }
        return language(
            viewers: viewerField.map { request.headerFields[values: $0] } ?? [], accepted: request.headerFields[values: .acceptLanguage])
    }

    /// The same of a request that nothing has been made of.
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
