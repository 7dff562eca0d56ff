internal import Crypto

extension FeedPage {
    /// The page as clients get it: JSON, UTF-8.
    public func json() -> [UInt8] { encoded().json }

    /// The page as clients get it, with a digest that no other JSON has: of the digests of its cells, what
    /// fills their gaps, and the rest.
    public func encoded() -> (json: [UInt8], digest: [UInt8]) {
        var parts: [UInt8] = []
        parts.reserveCapacity(entries.count * 16 + 1_024)
        withUnsafeBytes(of: UInt64(entries.count).littleEndian) { parts.append(contentsOf: $0) }
        var writer = JSONWriter(capacity: entries.reduce(1_024) { $0 + $1.cell.count + 1 })
        writer.raw(#"{"items":["#)
        for (index, entry) in entries.enumerated() {
            if index > 0 { writer.raw(",") }
            entry.write(to: &writer)
            entry.writeDigest(to: &parts)
        }
        let rest = writer.bytes.count
        writer.raw(#"],"page":{"protocol":1,"limit":"#)
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
        let omitted = OmittedCells(omissions)
        if !omitted.isEmpty {
            writer.raw(#","omitted":"#)
            omitted.write(to: &writer)
        }
        writer.raw("}}")
        parts.append(contentsOf: writer.bytes[rest...])
        return (writer.bytes, SHA256.hash(data: parts).withUnsafeBytes { Array($0.prefix(12)) })
    }

    /// The value of the `Link` field (RFC 8288), or nil on the only page.
    public var link: String? {
        guard next != nil || previous != nil else { return nil }
        var link = ""
        link.reserveCapacity((next?.utf8.count ?? 0) + (previous?.utf8.count ?? 0) + 32)
        if let next { link.append(href: next, relation: "next") }
        if let previous { link.append(href: previous, relation: "prev") }
        return link
    }
}

extension String {
    fileprivate mutating func append(href: String, relation: String) {
        if !isEmpty { self += ", " }
        self += "<"
        self += href
        self += ">; rel=\""
        self += relation
        self += "\""
    }
}
