@testable import IntertwineFeed

/// Hidden cells as an in-memory set.
struct HiddenSet: ViewerStateStore, CellSet {
    private let cells: Set<ByteString>

    init(_ cells: Set<ByteString>) {
        self.cells = cells
    }

    func contains(_ cell: String) -> Bool { cells.contains(ByteString(cell)) }

    func cells(limit: Int) -> [String] { cells.prefix(limit).map(\.text) }

    func read<Value>(_ body: (ViewerState) throws -> Value) throws -> Value { try body(ViewerState(dismissed: self)) }
}

extension PageClient {
    /// A viewer with dismissed cells.
    static func viewer(_ name: String = "ann", hiding cells: Set<ByteString> = []) -> PageClient {
        PageClient(viewer: (name, HiddenSet(cells)))
    }
}
