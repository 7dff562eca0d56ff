/// What one page of a viewer's list holds, and the marks from which the pages beside it are read.
///
/// Marks fall along the list: the newest cell stands first.
struct ListStretch {
    /// Newest first.
    let cells: [ListReader.Cell]
    /// The page after it is read forward from here; nil where this is the last.
    private(set) var next: Int64?
    /// The page before it is read backward from here; nil where this is the first.
    private(set) var previous: Int64?

    /// Reads one cell more than the page holds: it tells whether there is a page behind.
    init(reader: ListReader, cursor: PageCursor?, limit: Int) async throws {
        let direction = cursor?.direction ?? .forward
        let found = try await reader.cells(limit + 1, direction, of: cursor?.place.item.position)
        let kept = Array(found.prefix(limit))
        cells = direction == .forward ? kept : kept.reversed()
        let first = cells.first?.mark ?? cursor?.place.item.moved(by: -1).position
        let last = cells.last?.mark ?? cursor?.place.item.moved(by: 1).position
        switch direction {
        case .forward:
            if found.count > limit { next = last }
            // The cell that the cursor came from may be gone.
            if cursor != nil, let first, try await !reader.cells(1, .backward, of: first).isEmpty { previous = first }
        case .backward:
            if found.count > limit { previous = first }
            if cursor != nil, let last, try await !reader.cells(1, .forward, of: last).isEmpty { next = last }
        }
    }
}
