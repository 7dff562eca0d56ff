public import IntertwineFeed
internal import IntertwineFetch
internal import IntertwinePrimitives

/// How a page tells where the next one is.
public enum NextPage: Sendable, Hashable {
    /// There is one page.
    case none
    /// By `Link: <…>; rel="next"` (RFC 8288).
    case link
    /// By a URL in the document.
    case url(JSONPointer)
    /// By a value in the document, to be sent as a parameter of the first page's query.
    case cursor(JSONPointer, parameter: String)

    /// What has to be read from each page's document.
    var pointer: JSONPointer? {
        switch self {
        case .none, .link: nil
        case .url(let pointer), .cursor(let pointer, _): pointer
        }
    }

    /// The page behind one; nil where there is none.
    ///
    /// - Parameter cursor: what stands at ``pointer`` in the document.
    func following(_ head: FetchHead, cursor: String?, first: FetchURL) throws(FetchFailure) -> FetchURL? {
        switch self {
        case .none: return nil
        case .link:
            guard let reference = head.headers["link"].flatMap({ LinkField.next(in: $0) }) else { return nil }
            return try head.url.resolving(reference)
        case .url:
            guard let cursor else { return nil }
            return try head.url.resolving(cursor)
        case .cursor(_, let parameter):
            guard let cursor else { return nil }
            return try FetchURL(Self.setting(parameter, to: cursor, in: first.text))
        }
    }

    /// A URL whose query has a parameter once, with this value.
    static func setting(_ parameter: String, to value: String, in url: String) -> String {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let name = PercentCoding.encode(parameter)
        var pairs = (parts.count > 1 ? parts[1] : "").split(separator: "&").map(String.init)
        pairs.removeAll { $0 == name || $0.hasPrefix(name + "=") }
        pairs.append("\(name)=\(PercentCoding.encode(value))")
        return "\(parts.first ?? "")?\(pairs.joined(separator: "&"))"
    }
}
