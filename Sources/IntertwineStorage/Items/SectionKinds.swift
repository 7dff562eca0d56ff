import GRDB
import IntertwineFeed

/// Where the items of each kind stand, as the file has it.
struct SectionKinds: Equatable {
    /// By kind. A kind that is not here stands in the lane of its own.
    var lanes: [String: Lane] = [:]

    init(_ database: Database) throws {
        let statement = try SQLStatement(database, "SELECT kind, section FROM section_kind")
        defer { statement.reset() }
        while try statement.step() { lanes[statement.text(0)] = Lane(rawValue: statement.integer(1)) }
    }

    /// Advertisements stand in no section.
    func lane(of item: ValidItem) -> Lane {
        lanes.isEmpty || item.lane != .content ? item.lane : lanes[item.kind] ?? .content
    }
}
