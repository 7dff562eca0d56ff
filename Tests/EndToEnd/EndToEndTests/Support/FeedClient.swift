import Foundation
import TestSupport

/// A client that has pages and applies their changes, as the description of `/feed/changes` specifies.
struct FeedClient {
    /// The cells as JSON with sorted members.
    private(set) var cells: [String] = []
    private(set) var syncTokens: [String] = []
    private(set) var next: String?
    /// The number of changes in the last response.
    private(set) var changes = 0

    var syncToken: String { syncTokens.joined(separator: ",") }

    mutating func load(_ service: RunningService, _ path: String, pages: Int) throws {
        next = path
        while syncTokens.count < pages, let href = next {
            let page = try JSON(try service.get(href).text)
            cells += try (page["cells"]?.list ?? []).map(Self.text)
            syncTokens.append(page["page"]?["syncToken"]?.text ?? "")
            next = page["page"]?["next"]?.text
        }
    }

    /// - Throws: an error if the service requires a reload of the pages.
    mutating func follow(_ service: RunningService) throws {
        let answer = try JSON(try service.get("/feed/changes?syncToken=\(syncToken)").text)
        guard answer["reload"]?.value as? Bool == false else { throw RawClientError.closed }
        let lists = ["removed", "inserted", "moved", "reconfigured"].map { answer[$0]?.list ?? [] }
        changes = lists.map(\.count).reduce(0, +)
        let old = cells
        let moves = lists[2].compactMap { move in move["from"]?.number.flatMap { from in move["to"]?.number.map { (from, $0) } } }
        for index in (lists[0].compactMap { $0["index"]?.number } + moves.map(\.0)).sorted(by: >) { cells.remove(at: index) }
        let inserted = try lists[1].map(Self.placed) + moves.map { ($0.1, old[$0.0]) }
        for (index, cell) in inserted.sorted(by: { $0.0 < $1.0 }) { cells.insert(cell, at: index) }
        for (index, cell) in try lists[3].map(Self.placed) { cells[index] = cell }
        syncTokens = answer["pages"]?.list.compactMap { $0["syncToken"]?.text } ?? []
        next = answer["page"]?["next"]?.text
    }

    private static func placed(_ change: JSON) throws -> (Int, String) {
        guard let index = change["index"]?.number, let cell = change["cell"] else { throw RawClientError.closed }
        return (index, try text(cell))
    }

    private static func text(_ cell: JSON) throws -> String {
        String(decoding: try JSONSerialization.data(withJSONObject: cell.value, options: .sortedKeys), as: UTF8.self)
    }
}
