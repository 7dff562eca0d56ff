internal import IntertwinePrimitives

extension FeedChanges {
    package func json() -> [UInt8] {
        switch self {
        case .reload:
            return Array(#"{"reload":true}"#.utf8)
        case .changed(let pages):
            var writer = JSONWriter(capacity: 512 + (pages.changes.inserted.count + pages.changes.reconfigured.count) * 768)
            writer.write(pages)
            return writer.bytes
        }
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ changed: PageDiff) {
        let (changes, held) = (changed.changes, changed.clientCells)
        let cells = changed.pages.flatMap(\.entries)
        raw(#"{"reload":false,"removed":"#)
        write(changes.removed) { writer, index in
            writer.member(#"{"index":"#, index)
            writer.raw(#","id":"#)
            writer.write(held[index].id)
        }
        raw(#","inserted":"#)
        write(changes.inserted) { $0.write($1, cells) }
        raw(#","moved":"#)
        write(changes.moved) { writer, move in
            writer.member(#"{"from":"#, move.from)
            writer.member(#","to":"#, move.to)
            writer.raw(#","id":"#)
            writer.write(held[move.from].id)
        }
        raw(#","reconfigured":"#)
        write(changes.reconfigured) { $0.write($1, cells) }
        raw(#","pages":"#)
        write(changed.pages) { writer, page in
            writer.member(#"{"count":"#, page.entries.count)
            writer.raw(#","syncToken":"#)
            writer.write(page.syncToken)
        }
        raw(#","page":{"next":"#)
        write(changed.pages.last?.next)
        raw(#","previous":"#)
        write(changed.pages.first?.previous)
        let sections = changed.pages.compactMap(\.sections)
        if !sections.isEmpty {
            raw(#","sections":["#)
            // Adjacent pages can share a section, which is written once.
            var last: String?
            for section in sections.joined() where section != last {
                if last != nil { raw(",") }
                write(section)
                last = section
            }
            raw("]")
        }
        raw("}}")
    }

    private mutating func write(_ index: Int, _ cells: [FeedPage.Entry]) {
        member(#"{"index":"#, index)
        raw(#","cell":"#)
        cells[index].write(to: &self)
    }

    private mutating func member(_ name: StaticString, _ value: Int) {
        raw(name)
        write(Int64(value))
    }

    private mutating func write<Element>(_ list: [Element], _ body: (inout JSONWriter, Element) -> Void) {
        raw("[")
        for (index, element) in list.enumerated() {
            if index > 0 { raw(",") }
            body(&self, element)
            raw("}")
        }
        raw("]")
    }
}
