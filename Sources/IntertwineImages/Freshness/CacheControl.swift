/// The directives of a `Cache-Control` field (RFC 9111 section 5.2). Where one comes twice, the first counts.
struct CacheControl {
    private var directives: [String: String?] = [:]

    init(_ field: String?) {
        var rest = Substring(field ?? "")
        while let next = Self.next(&rest) {
            if let (name, value) = next, directives[name] == nil { directives[name] = .some(value) }
        }
    }

    func has(_ name: String) -> Bool { directives[name] != nil }

    /// Seconds. What is no number counts as zero (section 4.2.1: an answer with invalid freshness is stale), what is too large as 2³¹.
    func seconds(_ name: String) -> Int64? {
        guard let value = directives[name] else { return nil }
        guard let value, !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }) else { return 0 }
        return min(Int64(value) ?? .max, 1 << 31)
    }

    /// The next directive; a nil inside is an empty list element.
    private static func next(_ rest: inout Substring) -> (String, String?)?? {
        guard !rest.isEmpty else { return nil }
        var isQuoted = false
        var end = rest.endIndex
        for place in rest.indices {
            if rest[place] == "\"" { isQuoted.toggle() }
            if rest[place] == ",", !isQuoted {
                end = place
                break
            }
        }
        let text = rest[..<end].trimmingBlanks
        rest = end == rest.endIndex ? "" : rest[rest.index(after: end)...]
        guard !text.isEmpty else { return .some(nil) }
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count == 2 ? String(parts[1].trimmingBlanks).filter { $0 != "\"" } : nil
        return .some((parts[0].trimmingBlanks.lowercased(), value))
    }
}
