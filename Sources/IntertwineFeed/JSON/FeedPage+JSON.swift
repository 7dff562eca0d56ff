internal import IntertwinePrimitives

extension FeedPage {
    package func json() -> [UInt8] { encoded().json }

    package func encoded() -> (json: [UInt8], digest: InlineArray<12, UInt8>) {
        var writer = JSONWriter(capacity: entries.indices.reduce(1_024) { $0 + entries[$1].size + 1 })
        writer.raw(#"{"cells":["#)
        // Elements of the array would be copied, and their references be retained and released.
        entries.withUnsafeBufferPointer { entries in
            for index in entries.indices {
                if index > 0 { writer.raw(",") }
                entries[index].write(to: &writer)
            }
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
        if let syncToken {
            writer.raw(#","syncToken":"#)
            writer.write(syncToken)
        }
        if isDegraded { writer.raw(#","degraded":true"#) }
        writeOmitted(to: &writer)
        writer.raw("}}")
        let digest = writer.withBytes { hashed(&$0, behind: rest) }
        return (writer.bytes, digest)
    }

    /// Writes the items that were omitted because the client does not support them.
    private func writeOmitted(to writer: inout JSONWriter) {
        var groups: [(kind: String, identifiers: [String], count: Int)] = []
        for omission in omissions {
            guard case .unknownToClient(let identifiers) = omission.reason else { continue }
            let kind = omission.form.kind
            if let index = groups.firstIndex(where: { $0.kind == kind && $0.identifiers == identifiers }) {
                groups[index].count += 1
            } else {
                groups.append((kind, identifiers, 1))
            }
        }
        for (index, group) in groups.enumerated() {
            writer.raw(index == 0 ? #","omitted":[{"kind":"# : #",{"kind":"#)
            writer.write(group.kind)
            writer.raw(#","count":"#)
            writer.write(Int64(group.count))
            writer.raw(#","reason":"unknown-cell","identifiers":"#)
            writer.write(.list(group.identifiers.map { .text($0) }))
            writer.raw("}")
        }
        if !groups.isEmpty { writer.raw("]") }
    }

    /// The bytes that represent the cells are temporarily appended to the JSON, which avoids an allocation.
    private func hashed(_ json: inout [UInt8], behind rest: Int) -> InlineArray<12, UInt8> {
        let end = json.count
        entries.withUnsafeBufferPointer { entries in
            for index in entries.indices { entries[index].writeDigest(to: &json) }
        }
        withUnsafeBytes(of: UInt64(entries.count).littleEndian) { json.append(contentsOf: $0) }
        let digest = json.withUnsafeBytes { SHA256.hash(data: UnsafeRawBufferPointer(rebasing: $0[rest...])) }
        json.removeLast(json.count - end)
        return digest.withUnsafeBytes { digest in InlineArray { digest[$0] } }
    }

    /// The value of the `Link` header field (RFC 8288), or nil if there is only one page.
    package var link: String? {
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
