/// Takes advertisements from the store in their order, round and round.
///
/// The rotation goes on after the position of an advertisement and not after a number of them, so that it stays in step when some are
/// added or deleted, and goes backward as well as forward. Only forms that have a factory are read.
struct AdCandidates {
    private let stream: AdCursor
    private let isEmpty: Bool
    private var reader: CellRenderer

    /// - Parameter stock: what there is in the snapshot, as far as that is known.
    init(snapshot: any FeedSnapshot, forms: [ItemType], stock: HouseAdRotation.AdInventory?, reader: CellRenderer) {
        stream = AdCursor(snapshot: snapshot, forms: forms, ownsStream: stock?.ownsStream ?? false)
        isEmpty = stock?.isEmpty ?? false
        self.reader = reader
    }

    var omissions: [FeedPage.SkippedItem] { reader.omissions }

    /// The next advertisements in the order of the feed; fewer where there are not so many.
    ///
    /// - Parameters:
    ///   - mark: the position next to which they stand; nil for the first ones.
    ///   - isRepeating: whether it goes round and round until there are so many; otherwise none comes twice.
    mutating func next(
        _ count: Int, _ direction: PageDirection, of mark: Int64?, repeating isRepeating: Bool = false
    ) throws -> [CellRenderer.PlacedCell] {
        // Where all of them are campaigns', none of them has to be met to know it.
        guard count > 0, !isEmpty else { return [] }
        let stream = stream
        var cells = try reader.cells(count, from: mark.map { SortPosition(position: $0) }) {
            try stream.visit(direction, of: $0?.position, limit: $1, $2)
        }
        if let mark, cells.count < count {
            // Round to the other end, and up to the mark, which is the last one that has not been met.
            cells += try reader.cells(count - cells.count, from: nil) { place, limit, body in
                try stream.visit(direction, of: place?.position, limit: limit) { row in
                    if direction == .forward ? row.position <= mark : row.position >= mark { try body(row) }
                }
            }
        }
        if isRepeating, !cells.isEmpty, cells.count < count {
            let all = cells
            while cells.count < count { cells += all.prefix(count - cells.count) }
        }
        if direction == .backward { cells.reverse() }
        return cells
    }

    /// All of them.
    mutating func all() throws -> [CellRenderer.PlacedCell] {
        try next(.max, .forward, of: nil)
    }

    /// The cell of one of them; nil where it has to be left out.
    mutating func cell(of item: FeedItem) throws -> CellRenderer.PlacedCell? {
        try reader.cell(of: item)
    }

    /// The same cell in another slot of the page.
    func cell(_ cell: CellRenderer.PlacedCell, inSlot slot: Int) -> CellRenderer.PlacedCell {
        reader.cell(cell, inSlot: slot)
    }
}

/// The advertisements of some forms, as one stream in the order of their positions.
struct AdCursor {
    let snapshot: any FeedSnapshot
    let forms: [ItemType]
    /// Whether to read the lane of advertisements is to read these: one look into the store instead of one for each form.
    var ownsStream = false

    func visit(_ direction: PageDirection, of position: Int64?, limit: Int, _ body: (ItemRow) throws -> Void) throws {
        if ownsStream {
            return try snapshot.visit(.advertisements, direction, of: position, limit: limit, body)
        }
        if forms.count == 1 { return try snapshot.visit(forms[0], direction, of: position, limit: limit, body) }
        var items: [FeedItem] = []
        for form in forms { items += try snapshot.items(of: form, direction, of: position, limit: limit) }
        items.sort { direction == .forward ? $0.position < $1.position : $0.position > $1.position }
        for item in items.prefix(limit) { try item.withRow(body) }
    }

    /// The position of the one next to a place; nil where there is none.
    func position(_ direction: PageDirection, of position: Int64?) throws -> Int64? {
        var found: Int64?
        try visit(direction, of: position, limit: 1) { found = $0.position }
        return found
    }
}
