import IntertwineFeed

/// Cells that are hidden, as a set in memory.
struct HiddenSet: ViewerCells, CellSet {
    private let cells: Set<ExactText>

    init(_ cells: Set<ExactText>) {
        self.cells = cells
    }

    func contains(_ cell: String) -> Bool { cells.contains(ExactText(cell)) }

    func read<Value>(_ body: (ViewerMarks) throws -> Value) throws -> Value { try body(ViewerMarks(dismissed: self)) }
}
