/// What a page leaves out because the client cannot show it: `page.omitted`.
struct OmittedCells {
    private struct Group {
        var kind: String
        var identifiers: [String]
        var count: Int
    }

    private var groups: [Group] = []

    init(_ omissions: [FeedPage.Omission]) {
        for omission in omissions {
            guard case .unknownToClient(let identifiers) = omission.reason else { continue }
            if let index = groups.firstIndex(where: { $0.kind == omission.form.kind && $0.identifiers == identifiers }) {
                groups[index].count += 1
            } else {
                groups.append(Group(kind: omission.form.kind, identifiers: identifiers, count: 1))
            }
        }
    }

    var isEmpty: Bool { groups.isEmpty }

    func write(to writer: inout JSONWriter) {
        writer.raw("[")
        for (index, group) in groups.enumerated() {
            if index > 0 { writer.raw(",") }
            writer.raw(#"{"kind":"#)
            writer.write(group.kind)
            writer.raw(#","count":"#)
            writer.write(Int64(group.count))
            writer.raw(#","reason":"unknown-cell","identifiers":["#)
            for (index, identifier) in group.identifiers.enumerated() {
                if index > 0 { writer.raw(",") }
                writer.write(identifier)
            }
            writer.raw("]}")
        }
        writer.raw("]")
    }
}
