// article: DataSourceOfYourOwn
import IntertwineService

/// The users that an editor has chosen, in the editor's order.
struct ChosenUsers: DataSource {
    let ids: [String]
    let sections = [FeedSection()]

    func visit(_ query: SectionQuery, in snapshot: any FeedSnapshot, _ body: (ItemRow) throws -> Void) throws {
        var count = 0
        for index in query.direction == .forward ? Array(ids.indices) : ids.indices.reversed() where count < query.limit {
            guard query.includes(Int64(index)), var item = try snapshot.item(kind: "user", id: ids[index]) else { continue }
            item.position = Int64(index)  // Its place in this feed.
            try item.withRow(body)
            count += 1
        }
    }
}

/// The announcements of another service, the newest one first. They are shown in the cells of notes.
struct Announcements: AsyncDataSource {
    struct Announcement: Codable {
        let id: String
        let text: String
        let published: Int64
    }

    /// Fetches announcements that were published before a time.
    let fetch: @Sendable (_ before: Int64?, _ count: Int) async throws -> [Announcement]
    let find: @Sendable (_ id: String) async throws -> Announcement?
    /// Counts the changes that the other service has announced.
    let changes: @Sendable () -> UInt64
    var version: UInt64 { changes() }

    func page(after position: Int64?, limit: Int) async throws -> [FeedItem] {
        try await fetch(position.map { -$0 }, limit).map(item)
    }

    func item(id: String) async throws -> FeedItem? { try await find(id).map(item) }

    /// Positions ascend, so the newest announcement has the least one.
    private func item(_ announcement: Announcement) throws -> FeedItem {
        try FeedItem(
            kind: "note", id: announcement.id, variant: "plain", position: -announcement.published, fields: ["text": announcement.text])
    }
}

/// Served at `/feeds/chosen` and `/feeds/announcements`.
func extensions(choosing ids: [String], _ announcements: Announcements) -> ServiceExtensions {
    var extensions = notes
    extensions.dataSources["chosen"] = ChosenUsers(ids: ids)
    extensions.dataSources["announcements"] = FlatDataSource(announcements)
    return extensions
}
// article: end
