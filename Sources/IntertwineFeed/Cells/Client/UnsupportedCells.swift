internal import IntertwinePrimitives

/// The reuse identifier under which clients register a cell, and the version of its bindings.
public struct CellIdentifier: Sendable, Hashable {
    /// The reuse identifier, such as `NoteCollectionViewCell`.
    public var name: String
    /// The version of the bindings.
    public var version: Int

    /// The name by which a client refuses the labels of ads.
    static let disclosure = CellIdentifier("disclosure")

    /// Creates the identifier of a version of a cell, by default of version 1.
    public init(_ name: String, version: Int = 1) {
        self.name = name
        self.version = version
    }
}

package struct UnsupportedCells: Sendable, Hashable {
    private let cells: Set<CellIdentifier>
    /// A digest of the unsupported cells; never 0.
    package let digest: UInt64

    package init?(_ cells: Set<CellIdentifier>) {
        self.cells = cells
        guard !cells.isEmpty else { return nil }
        let text = cells.map { "\($0.version) \($0.name)" }.sorted().joined(separator: "\n")
        digest = SHA256.hash(data: Array(text.utf8)).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } | 1
    }

    func contains(_ cell: CellIdentifier) -> Bool { cells.contains(cell) }
}
