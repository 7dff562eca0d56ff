/// What a page leaves out because the client cannot show it: `page.omitted`.
struct OmittedCells {
    private struct Group {
        var kind: String
        var identifiers: [String]
        /// Of bindings and actions; none where it is the cells that are not known.
        var types: [String]
        var count: Int
    }

    private var groups: [Group] = []

    init(_ omissions: [FeedPage.Omission]) {
        for omission in omissions {
            let (identifiers, types): ([String], [String])
            switch omission.reason {
            case .unknownToClient(let cells): (identifiers, types) = (cells, [])
            case .unknownTypes(let unknown, let cell): (identifiers, types) = ([cell], unknown)
            case .noFactory, .broken: continue
            }
            let same = groups.firstIndex {
                $0.kind == omission.form.kind && $0.identifiers == identifiers && $0.types == types
            }
            if let index = same {
                groups[index].count += 1
            } else {
                groups.append(Group(kind: omission.form.kind, identifiers: identifiers, types: types, count: 1))
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
            writer.raw(group.types.isEmpty ? #","reason":"unknown-cell","identifiers":"# : #","reason":"unknown-type","identifiers":"#)
            writer.write(.list(group.identifiers.map { .text($0) }))
            if !group.types.isEmpty {
                writer.raw(#","types":"#)
                writer.write(.list(group.types.map { .text($0) }))
            }
            writer.raw("}")
        }
        writer.raw("]")
    }
}
