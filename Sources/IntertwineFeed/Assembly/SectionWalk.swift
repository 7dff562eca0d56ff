/// Reads cells from section after section, as if they were one.
struct SectionWalk {
    let source: any DataSource
    let snapshot: any FeedSnapshot

    /// As many cells as asked for, fewer only where the feed ends.
    ///
    /// - Parameter place: beside which they begin; nil for the feed's start or, going `backward`, its end.
    func cells(
        _ count: Int, _ direction: PageDirection, of place: FeedPlace?, reader: inout CellReader
    ) throws -> [CellReader.Cell] {
        let end = source.sectionCount
        var section = place?.section ?? (direction == .forward ? 0 : end - 1)
        var start = place?.item
        var cells: [CellReader.Cell] = []
        while cells.count < count, section >= 0, section < end {
            let found = try reader.cells(count - cells.count, in: section, from: start) {
                try source.visit(section, direction, of: $0, limit: $1, from: snapshot, $2)
            }
            if cells.isEmpty { cells = found } else { cells += found }
            start = nil
            section += direction == .forward ? 1 : -1
        }
        return cells
    }
}
