/// Takes advertisements from the store in their order, round and round.
///
/// The rotation goes on after the position of an advertisement and not after a number of them, so that it stays in step when some are
/// added or deleted, and goes backward as well as forward. Only forms that have a factory are read.
struct AdvertisementReader {
    private let source: Source
    private var reader: CellReader

    init(snapshot: any FeedSnapshot, forms: [ItemForm], reader: CellReader) {
        source = Source(snapshot: snapshot, forms: forms)
        self.reader = reader
    }

    var omissions: [FeedPage.Omission] { reader.omissions }

    /// The next advertisements in the order of the feed, never one twice; fewer where there are not so many.
    ///
    /// - Parameter mark: the position next to which they stand; nil for the first ones.
    mutating func next(_ count: Int, _ direction: PageDirection, of mark: Int64?) throws -> [CellReader.Cell] {
        guard count > 0 else { return [] }
        let source = source
        var cells = try reader.cells(count, from: mark.map { ItemPlace(position: $0) }) {
            try source.visit(direction, of: $0?.position, limit: $1, $2)
        }
        if let mark, cells.count < count {
            // Round to the other end, and up to the mark, which is the last one that has not been met.
            cells += try reader.cells(count - cells.count, from: nil) { place, limit, body in
                try source.visit(direction, of: place?.position, limit: limit) { row in
                    if direction == .forward ? row.position <= mark : row.position >= mark { try body(row) }
                }
            }
        }
        if direction == .backward { cells.reverse() }
        for index in cells.indices.dropFirst() { cells[index] = reader.cell(cells[index], inSlot: index) }
        return cells
    }

    /// Where the first ones stand, in order.
    static func positions(of forms: [ItemForm], in snapshot: any FeedSnapshot, limit: Int) throws -> [Int64] {
        var positions: [Int64] = []
        try Source(snapshot: snapshot, forms: forms).visit(.forward, of: nil, limit: limit) { positions.append($0.position) }
        return positions
    }

    /// All of them.
    mutating func all() throws -> [CellReader.Cell] {
        try next(.max, .forward, of: nil)
    }

    /// The forms that can be shown, as one stream.
    private struct Source {
        var snapshot: any FeedSnapshot
        var forms: [ItemForm]

        func visit(_ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void) throws {
            if forms.count == 1 { return try snapshot.visit(forms[0], direction, of: position, limit: limit, body) }
            var items: [FeedItem] = []
            for form in forms { items += try snapshot.items(of: form, direction, of: position, limit: limit) }
            items.sort { direction == .forward ? $0.position < $1.position : $0.position > $1.position }
            for item in items.prefix(limit) { try item.withRow(body) }
        }
    }
}
