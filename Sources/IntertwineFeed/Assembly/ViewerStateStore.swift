internal import IntertwinePrimitives

/// The lists of the viewer that have a cell: `saved`, `selected`, and those that kinds declare.
package struct CellState: Sendable, Hashable, ExpressibleByArrayLiteral {
    private var lists: [ViewerList]

    package init(arrayLiteral lists: ViewerList...) { self.lists = lists }

    package var isEmpty: Bool { lists.isEmpty }

    fileprivate mutating func insert(_ list: ViewerList) { lists.append(list) }

    func write(to writer: inout JSONWriter) {
        for (index, list) in lists.enumerated() {
            writer.raw(index == 0 ? #","state":{""# : #",""#)
            writer.append(list.rawValue)
            writer.raw(#"":true"#)
        }
        if !isEmpty { writer.raw("}") }
    }

    func writeDigest(to bytes: inout [UInt8]) {
        if isEmpty { return bytes.append(0) }
        bytes.append((lists.contains(.saved) ? 1 : 0) | (lists.contains(.selected) ? 2 : 0))
        for list in lists where list != .saved && list != .selected { bytes.append(contentsOf: list.rawValue.utf8) }
    }
}

package protocol ViewerStateStore: Sendable {
    func read<Value>(_ body: (ViewerState) throws -> Value) throws -> Value
    func read<Value>(with lists: [ViewerList], _ body: (ViewerState) throws -> Value) throws -> Value
}

extension ViewerStateStore {
    package func read<Value>(with lists: [ViewerList], _ body: (ViewerState) throws -> Value) throws -> Value { try read(body) }
}

/// The viewer's state at one moment; valid only inside the call that receives it.
package final class ViewerState {
    private let dismissed: (any CellSet)?
    private let muted: (any CellSet)?
    /// The lists with cells, in the order of the state.
    private let lists: [(list: ViewerList, cells: any CellSet)]

    package init(dismissed: (any CellSet)?, lists: [(list: ViewerList, cells: any CellSet)] = []) {
        (self.dismissed, self.lists) = (dismissed, lists)
        muted = lists.first { $0.list == .muted }?.cells
    }

    var following: (any CellSet)? { lists.first { $0.list == .following }?.cells }

    var hidesCells: Bool { dismissed != nil || muted != nil }

    func hides(_ cell: String) throws -> Bool { try dismissed?.contains(cell) ?? false }

    /// `author`: the author of the cell's item; nil if it has none, and may be an author itself.
    func mutes(_ cell: String, by author: String?) throws -> Bool { try muted?.contains(author ?? cell) ?? false }

    var hasStates: Bool { !lists.isEmpty }

    /// Announces the cells of the following calls of ``state(of:by:)``.
    func prefetch(_ cells: @autoclosure () -> [(id: String, author: String?)]) throws {
        for (list, set) in lists { try set.prefetch(cells().map { list.isOfAuthors ? $0.author ?? $0.id : $0.id }) }
    }

    func state(of cell: String, by author: String?) throws -> CellState {
        var state: CellState = []
        for (list, cells) in lists where try cells.contains(list.isOfAuthors ? author ?? cell : cell) { state.insert(list) }
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

    func read<Value>(_ body: (ViewerState) throws -> Value) throws -> Value { try read(with: [], body) }

    func read<Value>(with lists: [ViewerList], _ body: (ViewerState) throws -> Value) throws -> Value {
        let lists = lists.isEmpty ? Self.lists : Self.lists + lists
        return try ledger.withCells(on: lists, of: viewer) { sets in
            try body(
                ViewerState(
                    dismissed: sets[0], lists: zip(lists, sets).dropFirst().compactMap { list, cells in cells.map { (list, $0) } }))
        }
    }
}
