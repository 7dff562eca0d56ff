import Foundation

/// A section of a list, with its optional header and its cells in order.
public struct FeedSection: Sendable, Hashable {
    /// The section of an empty list, which has no header and no cells. A collection view starts with it.
    public static let empty = FeedSection(id: "", header: nil, cells: [], keys: [])

    /// The id of the header; empty if the list begins without a header.
    public let id: String
    /// The header; nil if the list begins without one.
    public let header: FeedCell?
    /// The cells without the header.
    public let cells: [FeedCell]
    /// The stable keys of the cells, which identify each cell as long as it is in the list. An ad may be in the list twice.
    public let keys: [Int]

    /// A cell with its key.
    public struct Row: Sendable, Hashable, Identifiable {
        /// The key.
        public let id: Int
        /// The cell.
        public let cell: FeedCell
    }

    /// The cells with their keys, for example for `ForEach`.
    ///
    /// ```swift
    /// for row in section.rows { print(row.id, row.cell.id) }
    /// ```
    public var rows: [Row] { zip(keys, cells).map(Row.init) }

    /// Returns the section without the cells whose keys do not satisfy a predicate; nil if no cell remains.
    public func filtered(_ isIncluded: (Int) -> Bool) -> FeedSection? {
        let indices = keys.indices.filter { isIncluded(keys[$0]) }
        return indices.isEmpty ? nil : FeedSection(id: id, header: header, cells: indices.map { cells[$0] }, keys: indices.map { keys[$0] })
    }

    /// Splits a list into sections at its headers. There is always a section, as in a new collection view.
    static func sections(of entries: some Sequence<ListEntry>) -> [FeedSection] {
        var sections: [FeedSection] = []
        var header: FeedCell?
        var cells: [FeedCell] = []
        var keys: [Int] = []
        func end() {
            guard header != nil || !cells.isEmpty else { return }
            sections.append(FeedSection(id: header?.id ?? "", header: header, cells: cells, keys: keys))
        }
        for entry in entries {
            if entry.cell.isSectionHeader {
                end()
                (header, cells, keys) = (entry.cell, [], [])
            } else {
                cells.append(entry.cell)
                keys.append(entry.key)
            }
        }
        end()
        return sections.isEmpty ? [.empty] : sections
    }
}

/// One entry of the list.
struct ListEntry: Sendable {
    let key: Int
    var cell: FeedCell
    /// True if the cell was dismissed locally and the server has not removed it yet.
    var isHidden = false
}
