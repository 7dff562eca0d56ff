/// A host name, or every name below one: `example.com`, `*.example.com`. Compared label by label, so that neither
/// `evilexample.com` nor `example.com.evil.net` ever matches.
public struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    private let labels: [String]
    private let below: Bool

    /// Nil where a label is empty, or holds anything but ASCII letters, digits, `-` and `_`.
    public init?(_ text: String) {
        var rest = Substring(text.lowercased())
        below = rest.hasPrefix("*.")
        if below { rest = rest.dropFirst(2) }
        if rest.hasSuffix(".") { rest = rest.dropLast() }
        labels = rest.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let legal = labels.allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95 }
        }
        guard legal else { return nil }
    }

    /// - Parameter host: in the form of ``FetchURL/host``: lower case, ASCII, no trailing dot.
    public func matches(_ host: String) -> Bool {
        let other = host.split(separator: ".", omittingEmptySubsequences: false)
        if below {
            return other.count > labels.count && other.suffix(labels.count).elementsEqual(labels, by: ==)
        }
        return other.elementsEqual(labels, by: ==)
    }

    public var description: String {
        (below ? "*." : "") + labels.joined(separator: ".")
    }
}
