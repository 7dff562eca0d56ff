internal import Fetch

extension AuditLog {
    /// The target of a request as it may be kept: URLs in its query without theirs, where keys are often kept, and whatever is no URL that is
    /// fetched from (one with a user and a password is none) not at all.
    static func shown(_ target: String) -> String {
        let query = Target(target).query
        guard !query.isEmpty else { return target }
        let pairs = query.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { shown(pair: Substring($0)) }
        return target[..<query.startIndex] + pairs.joined(separator: "&")
    }

    private static func shown(pair: Substring) -> String {
        let start = pair.utf8.firstIndex(of: UInt8(ascii: "=")).map { pair.utf8.index(after: $0) } ?? pair.startIndex
        guard let value = PercentEncoding.decode(pair[start...]) else { return pair[..<start] + "…" }
        guard value.utf8.contains(UInt8(ascii: ":")) || value.utf8.contains(UInt8(ascii: "@")) else { return String(pair) }
        guard let url = try? FetchURL(value).text else { return pair[..<start] + "…" }
        return pair[..<start] + (url.utf8.firstIndex(of: UInt8(ascii: "?")).map { url[..<$0] + "?…" } ?? url)
    }
}
