import Foundation

/// A section of a list: its header, where it has one, and its cells in their order.
public struct FeedSection: Sendable, Hashable {
    /// The header's id; empty where the list begins without a header.
    public let id: String
    public let header: FeedCell?
    public let cells: [FeedCell]
    /// What each cell is known by for as long as it stays in the list, whatever it shows; an ad may stand there twice.
    public let keys: [Int]

    /// Takes a list apart where its headers stand.
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
        return sections
    }
}

/// One place in the list.
struct ListEntry: Sendable {
    let key: Int
    var cell: FeedCell
    /// Dismissed here, while the server has not taken it out yet.
    var isHidden = false
}
