/// A set of cells that can be asked of one cell after another, as it is at one moment; valid only inside the call that is given it.
public protocol CellSet {
    func contains(_ cell: String) throws -> Bool
}

/// The cells that a viewer does not want to see. However many there are, a page asks of those alone that could stand on it.
package protocol HiddenCells: Sendable {
    /// Blocks while `body` runs, which happens on a thread that reads the store.
    ///
    /// - Throws: ``StoreError/unavailable(_:)``, or what `body` throws.
    func read<Value>(_ body: (any CellSet) throws -> Value) throws -> Value
}

/// What a viewer has on a list.
package struct ListedCells: HiddenCells {
    private let list: ViewerList
    private let viewer: String
    private let ledger: any Ledger

    public init(on list: ViewerList, of viewer: String, in ledger: any Ledger) {
        self.list = list
        self.viewer = viewer
        self.ledger = ledger
    }

    public func read<Value>(_ body: (any CellSet) throws -> Value) throws -> Value {
        try ledger.withCells(on: list, of: viewer, body)
    }
}
