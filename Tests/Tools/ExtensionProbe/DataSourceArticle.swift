// article: DataSourceOfYourOwn
import IntertwineService

/// The users that an editor has chosen, in the editor's order. The service reads them from the store.
struct ChosenUsers: DataSource {
    let ids: [String]
    let isNewestFirst = false

    func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
        ids.enumerated().dropFirst(Int(position ?? -1) + 1).prefix(limit).map { index, id in
            FeedItem(stored: "user", id: id, position: Int64(index))
        }
    }
}

/// The announcements of another service, the newest one first. They are shown in the cells of notes.
struct Announcements: DataSource {
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

    func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
        try await fetch(position, limit).map(item)
    }

    func item(id: String, for context: FeedContext) async throws -> FeedItem? { try await find(id).map(item) }

    private func item(_ announcement: Announcement) throws -> FeedItem {
        try FeedItem(
            kind: "note", id: announcement.id, variant: "plain", position: announcement.published, fields: ["text": announcement.text])
    }
}

/// A note for each viewer.
struct Greeting: DataSource {
    let dependsOnViewer = true

    func items(after position: Int64?, limit: Int, for context: FeedContext) async throws -> [FeedItem] {
        guard position == nil, let viewer = context.viewer else { return [] }
        let group = context.attributes["group"]?.first ?? "guests"
        return [try FeedItem(kind: "note", id: "greeting", variant: "plain", position: 0, fields: ["text": "Hello \(viewer) of \(group)"])]
    }
}

/// Served at `/feeds/chosen`, `/feeds/announcements` and `/feeds/greeting`.
func extensions(choosing ids: [String], _ announcements: Announcements) -> ServiceExtensions {
    var extensions = notes
    extensions.dataSources["chosen"] = ChosenUsers(ids: ids)
    extensions.dataSources["announcements"] = announcements
    extensions.dataSources["greeting"] = Greeting()
    return extensions
}
// article: end
