public import IntertwineFetch

/// Which pictures are meant, by their sources.
public enum ImageSelection: Sendable, Hashable {
    /// One, in every format.
    case source(String)
    /// All whose URLs begin so, in canonical form.
    case prefix(FetchURL)
    /// All of a host, or of all hosts below one, on any port.
    case host(HostPattern)
    case all

    func contains(_ source: String) -> Bool {
        switch self {
        case .source(let other): source == other
        case .prefix(let url): source.utf8.starts(with: url.text.utf8)
        case .host(let pattern): (try? FetchURL(source)).map { pattern.matches($0.host) } ?? false
        case .all: true
        }
    }
}
