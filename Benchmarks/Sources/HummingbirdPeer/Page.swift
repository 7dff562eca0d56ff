import Foundation
import GRDB

struct UserRow: FetchableRecord, Decodable {
    var position: Int64
    var id: String
    var username: String
    var avatarUrl: String
    var backgroundUrl: String?
    var type: String
}

struct AdvertisementRow: FetchableRecord, Decodable {
    var id: String
    var contentUrl: String
    var clickthroughUrl: String
}

/// The feed page of the contract, as Codable types.
struct Page: Encodable {
    struct Size: Encodable {
        var width: Int
        var height: Int
    }
    struct Binding: Encodable {
        var type: String
        var text: String?
        var href: String?

        static func text(_ text: String) -> Binding { Binding(type: "text", text: text) }
        static func image(_ href: String) -> Binding { Binding(type: "image", href: href) }
    }
    struct Action: Encodable {
        var type: String
        var bindings: [String: Binding]?
        var method: String?
        var href: String?
        var templated: Bool?
    }
    struct Cell: Encodable {
        var id: String
        var identifier: String
        var size: Size
        var actions: [String: Action]
    }
    struct Links: Encodable {
        var limit: Int
        var next: String?
        var previous: String?
    }

    var cells: [Cell]
    var page: Links

    static func read(from pool: DatabasePool, after: Int64, limit: Int) async throws -> Page {
        let (users, advertisements) = try await pool.read { database in
            (
                try UserRow.fetchAll(
                    database, sql: "SELECT * FROM users WHERE position > ? ORDER BY position LIMIT ?", arguments: [after, limit + 1]),
                try AdvertisementRow.fetchAll(database, sql: "SELECT * FROM advertisements ORDER BY id LIMIT 1")
            )
        }
        var cells = users.prefix(limit).map(cell(for:))
        cells.insert(contentsOf: advertisements.map(cell(for:)), at: cells.count / 2)
        let next = users.count > limit ? "/query?after=\(users[limit - 1].position)&limit=\(limit)" : nil
        return Page(cells: cells, page: Links(limit: limit, next: next, previous: nil))
    }

    private static func cell(for user: UserRow) -> Cell {
        var bindings = ["username": Binding.text(user.username), "avatar": .image(user.avatarUrl)]
        if user.type == "regular", let background = user.backgroundUrl { bindings["background"] = .image(background) }
        let id = "user:\(user.id)"
        return Cell(
            id: id, identifier: user.type == "featured" ? "CircularUserCollectionViewCell" : "UserSnapshotCollectionViewCell",
            size: Size(width: 300, height: user.type == "featured" ? 190 : 200),
            actions: [
                "configuration": Action(type: "bind", bindings: bindings),
                "cancellation": Action(type: "request", method: "DELETE", href: "/images/requests/{request}", templated: true),
                "selection": Action(type: "request", method: "POST", href: "/cells/\(id)/selection"),
                "deselection": Action(type: "request", method: "DELETE", href: "/cells/\(id)/selection"),
                "dismissal": Action(type: "request", method: "POST", href: "/cells/\(id)/dismissal"),
            ])
    }

    private static func cell(for advertisement: AdvertisementRow) -> Cell {
        Cell(
            id: "ad:\(advertisement.id)", identifier: "AdvertisementCollectionViewCell", size: Size(width: 220, height: 220),
            actions: [
                "configuration": Action(type: "bind", bindings: ["content": .image(advertisement.contentUrl)]),
                "cancellation": Action(type: "request", method: "DELETE", href: "/images/requests/{request}", templated: true),
                "selection": Action(type: "link", href: "/click/\(advertisement.id)"),
            ])
    }
}
