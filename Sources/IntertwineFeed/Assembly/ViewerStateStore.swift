/// A set of cells that can be asked of one cell after another, as it is at one moment; valid only inside the call that is given it.
public protocol CellSet {
    func contains(_ cell: String) throws -> Bool

    /// Another number whenever a cell was taken off the set, and perhaps when one was taken off somebody else's: what was in it and is asked for
    /// under the same number is in it still.
    /// Nil where nobody knows.
    func removalGeneration() throws -> Int64?
}

extension CellSet {
    public func removalGeneration() throws -> Int64? { nil }
}

/// How a cell stands with a viewer, as pages tell it.
package struct CellState: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let saved = CellState(rawValue: 1 << 0)
    package static let selected = CellState(rawValue: 1 << 1)

    /// What stands behind the other members of a cell; nothing where nothing was done with it.
    func write(to writer: inout JSONWriter) {
        if isEmpty { return }
        writer.raw(#","state":{"#)
        if contains(.saved) { writer.raw(#""saved":true"#) }
        if self == [.saved, .selected] { writer.raw(",") }
        if contains(.selected) { writer.raw(#""selected":true"#) }
        writer.raw("}")
    }
}

/// What a viewer did with cells. However much that is, a page asks of those alone that could stand on it.
package protocol ViewerStateStore: Sendable {
    /// Blocks while `body` runs, which happens on a thread that reads the store.
    ///
    /// - Throws: ``StoreError/unavailable(_:)``, or what `body` throws.
    func read<Value>(_ body: (ViewerState) throws -> Value) throws -> Value
}

/// The same as it is at one moment; valid only inside the call that is given it.
package struct ViewerState {
    /// Nil where there is nothing on a list, as for most viewers.
    private let dismissed: (any CellSet)?
    private let saved: (any CellSet)?
    private let selected: (any CellSet)?
    /// Nil where nobody is named.
    let viewer: String?

    package init(of viewer: String? = nil, dismissed: (any CellSet)?, saved: (any CellSet)? = nil, selected: (any CellSet)? = nil) {
        (self.viewer, self.dismissed, self.saved, self.selected) = (viewer, dismissed, saved, selected)
    }

    /// Whether there is any cell that ``hides(_:)`` has to be asked of.
    var hidesCells: Bool { dismissed != nil }

    /// Whether the viewer does not want to see the cell.
    func hides(_ cell: String) throws -> Bool { try dismissed?.contains(cell) ?? false }

    /// As ``CellSet/withdrawals()``, of what the viewer does not want to see.
    func withdrawals() throws -> Int64? { try dismissed?.removalGeneration() }

    /// Whether there is any cell that ``state(of:)`` has to be asked of.
    var hasStates: Bool { saved != nil || selected != nil }

    func state(of cell: String) throws -> CellState {
        var state: CellState = []
        if try saved?.contains(cell) ?? false { state.insert(.saved) }
        if try selected?.contains(cell) ?? false { state.insert(.selected) }
        return state
    }
}

/// What the ledger has of a viewer.
package struct ListMembership: ViewerStateStore {
    private static let lists: [ViewerList] = [.dismissed, .saved, .selected]
    private let viewer: String
    private let ledger: any Ledger

    package init(of viewer: String, in ledger: any Ledger) {
        self.viewer = viewer
        self.ledger = ledger
    }

    package func read<Value>(_ body: (ViewerState) throws -> Value) throws -> Value {
        try ledger.withCells(on: Self.lists, of: viewer) { sets in
            try body(ViewerState(of: viewer, dismissed: sets[0], saved: sets[1], selected: sets[2]))
        }
    }
}
