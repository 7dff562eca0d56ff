internal import Crypto

extension FeedPage {
    /// The page as clients get it: JSON, UTF-8.
    public func json() -> [UInt8] { encoded().json }

    /// The page as clients get it, with a digest that no other JSON has: of the digests of its cells, what
    /// fills their gaps, and the rest.
    public func encoded() -> (json: [UInt8], digest: InlineArray<12, UInt8>) {
        var writer = JSONWriter(capacity: entries.indices.reduce(1_024) { $0 + entries[$1].size + 1 })
        writer.raw(#"{"items":["#)
        // By index, here and below: an entry taken out of the array is copied, with all that it refers to counted in and out.
        for index in entries.indices {
            if index > 0 { writer.raw(",") }
            entries[index].write(to: &writer)
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
        writeOmitted(to: &writer)
        writer.raw("}}")
        let digest = writer.withBytes { hashed(&$0, behind: rest) }
        return (writer.bytes, digest)
    }

    /// What was left out because the client cannot show it: how many items of each kind, for want of which cells, or of which types of bindings
    /// and actions.
    private func writeOmitted(to writer: inout JSONWriter) {
        var groups: [(kind: String, identifiers: [String], types: [String], count: Int)] = []
        for omission in omissions {
            let (identifiers, types): ([String], [String])
            switch omission.reason {
            case .unknownToClient(let cells): (identifiers, types) = (cells, [])
            case .unknownTypes(let unknown, let cell): (identifiers, types) = ([cell], unknown)
            case .noFactory, .broken: continue
            }
            let kind = omission.form.kind
            if let index = groups.firstIndex(where: { $0.kind == kind && $0.identifiers == identifiers && $0.types == types }) {
                groups[index].count += 1
            } else {
                groups.append((kind, identifiers, types, 1))
            }
        }
        for (index, group) in groups.enumerated() {
            writer.raw(index == 0 ? #","omitted":[{"kind":"# : #",{"kind":"#)
            writer.write(group.kind)
            writer.raw(#","count":"#)
            writer.write(Int64(group.count))
            writer.raw(group.types.isEmpty ? #","reason":"unknown-cell","identifiers":"# : #","reason":"unknown-type","identifiers":"#)
            writer.write(.list(group.identifiers.map { .text($0) }))
            if !group.types.isEmpty {
                writer.raw(#","types":"#)
                writer.write(.list(group.types.map { .text($0) }))
            }
            writer.raw("}")
        }
        if !groups.isEmpty { writer.raw("]") }
    }

    /// What is hashed in place of the cells stands behind the JSON for a moment, so that it takes no memory of its own.
    private func hashed(_ json: inout [UInt8], behind rest: Int) -> InlineArray<12, UInt8> {
        let end = json.count
        for index in entries.indices { entries[index].writeDigest(to: &json) }
        withUnsafeBytes(of: UInt64(entries.count).littleEndian) { json.append(contentsOf: $0) }
        var hash = SHA256()
        json.withUnsafeBytes { hash.update(bufferPointer: UnsafeRawBufferPointer(rebasing: $0[rest...])) }
        json.removeLast(json.count - end)
        return hash.finalize().withUnsafeBytes { digest in InlineArray { digest[$0] } }
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
