internal import IntertwinePrimitives

package struct CellState: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    package static let saved = CellState(rawValue: 1 << 0)
    package static let selected = CellState(rawValue: 1 << 1)

    func write(to writer: inout JSONWriter) {
        if isEmpty { return }
        writer.raw(#","state":{"#)
        if contains(.saved) { writer.raw(#""saved":true"#) }
        if self == [.saved, .selected] { writer.raw(",") }
        if contains(.selected) { writer.raw(#""selected":true"#) }
        writer.raw("}")
    }
}

package protocol ViewerStateStore: Sendable {
    func read<Value>(_ body: (ViewerState) throws -> Value) throws -> Value
}

/// The viewer's state at one moment; valid only inside the call that receives it.
package struct ViewerState {
    private let dismissed: (any CellSet)?
    private let saved: (any CellSet)?
    private let selected: (any CellSet)?

    package init(dismissed: (any CellSet)?, saved: (any CellSet)? = nil, selected: (any CellSet)? = nil) {
        (self.dismissed, self.saved, self.selected) = (dismissed, saved, selected)
    }

    var hidesCells: Bool { dismissed != nil }

    func hides(_ cell: String) throws -> Bool { try dismissed?.contains(cell) ?? false }

    var hasStates: Bool { saved != nil || selected != nil }

    func state(of cell: String) throws -> CellState {
        var state: CellState = []
        if try saved?.contains(cell) ?? false { state.insert(.saved) }
        if try selected?.contains(cell) ?? false { state.insert(.selected) }
        return state
    }
}

struct ListMembership: ViewerStateStore {
    private static let lists: [ViewerList] = [.dismissed, .saved, .selected]
    private let viewer: String
    private let ledger: any Ledger

    init(of viewer: String, in ledger: any Ledger) {
        self.viewer = viewer
        self.ledger = ledger
    }

    func read<Value>(_ body: (ViewerState) throws -> Value) throws -> Value {
        try ledger.withCells(on: Self.lists, of: viewer) { sets in
            try body(ViewerState(dismissed: sets[0], saved: sets[1], selected: sets[2]))
        }
    }
}
