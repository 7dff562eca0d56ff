extension FeedPage {
    /// The page as clients get it: JSON, UTF-8.
    public func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 512 + entries.count * 768)
        writer.raw(#"{"items":["#)
        for (index, entry) in entries.enumerated() {
            if index > 0 { writer.raw(",") }
            writer.write(entry.viewModel)
        }
        writer.raw(#"],"page":{"limit":"#)
        writer.write(Int64(limit))
        writer.raw(#","next":"#)
        writer.write(next)
        writer.raw(#","previous":"#)
        writer.write(previous)
        if let sections {
            writer.raw(#","sections":["#)
            for (index, section) in sections.enumerated() {
                if index > 0 { writer.raw(",") }
                writer.write(section)
            }
            writer.raw("]")
        }
        if let since {
            writer.raw(#","since":"#)
            writer.write(since)
        }
        writer.raw("}}")
        return writer.bytes
    }

    /// The value of the `Link` field (RFC 8288), or nil on the only page.
    public var link: String? {
        let links = [next.map { "<\($0)>; rel=\"next\"" }, previous.map { "<\($0)>; rel=\"prev\"" }].compactMap { $0 }
        return links.isEmpty ? nil : links.joined(separator: ", ")
    }
}
