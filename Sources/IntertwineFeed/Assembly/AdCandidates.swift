/// An iterator over the advertisements of a store in stored order, which starts again at the first one after the last.
///
/// The rotation continues after the position of an advertisement, not after a count. It therefore stays in step if advertisements are added
/// or deleted, and works in both directions. Only types that have a factory are read.
struct AdCandidates {
    private let stream: AdCursor
    /// True if it is known that there are no house ads.
    let isEmpty: Bool
    private var reader: CellRenderer

    /// - Parameter stock: the known inventory of the snapshot; nil if it is unknown.
    init(snapshot: any FeedSnapshot, forms: [ItemType], stock: HouseAdRotation.AdInventory?, reader: CellRenderer) {
        stream = AdCursor(snapshot: snapshot, forms: forms, ownsStream: stock?.ownsStream ?? false)
        isEmpty = stock?.isEmpty ?? false
        self.reader = reader
    }

    var omissions: [FeedPage.SkippedItem] { reader.omissions }

    /// Returns the next advertisements in feed order, or fewer if there are not that many.
    ///
    /// - Parameters:
    ///   - start: The position that the advertisements adjoin; nil for the first ones.
    ///   - isRepeating: True if advertisements are repeated until `count` is reached. Otherwise each is returned at most once.
    mutating func next(
        _ count: Int, _ direction: PageDirection, of start: Int64?, repeating isRepeating: Bool = false
    ) throws -> [CellRenderer.PlacedCell] {
        // If all advertisements belong to campaigns, the inventory is empty and nothing has to be read.
        guard count > 0, !isEmpty else { return [] }
        let stream = stream
        var cells = try reader.cells(count, from: start.map { SortPosition(position: $0) }) {
            try stream.visit(direction, of: $0?.position, limit: $1, $2)
        }
        if let start, cells.count < count {
            // Continue at the other end, up to the mark, which is the last advertisement that has not been read.
            cells += try reader.cells(count - cells.count, from: nil) { place, limit, body in
                try stream.visit(direction, of: place?.position, limit: limit) { row in
                    if direction == .forward ? row.position <= start : row.position >= start { try body(row) }
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

    /// Returns all advertisements.
    mutating func all() throws -> [CellRenderer.PlacedCell] {
        try next(.max, .forward, of: nil)
    }

    /// Returns the cell of one advertisement, or nil if it is skipped.
    mutating func cell(of item: FeedItem) throws -> CellRenderer.PlacedCell? {
        try reader.cell(of: item)
    }

    /// Returns a cell rendered for another ad slot of the page.
    func cell(_ cell: CellRenderer.PlacedCell, inSlot slot: Int) -> CellRenderer.PlacedCell {
        reader.cell(cell, inSlot: slot)
    }
}

/// The advertisements of given types, as one stream in the order of their positions.
struct AdCursor {
    let snapshot: any FeedSnapshot
    let forms: [ItemType]
    /// True if the advertisement stream contains exactly these types: one database query then replaces one query for each type.
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

    /// Returns the position of the advertisement next to a position, or nil at the end.
    func position(_ direction: PageDirection, of position: Int64?) throws -> Int64? {
        var found: Int64?
        try visit(direction, of: position, limit: 1) { found = $0.position }
        return found
    }
}
