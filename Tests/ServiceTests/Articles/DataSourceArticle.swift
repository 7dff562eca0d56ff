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

/// Served at `/feeds/chosen`.
func extensions(choosing ids: [String]) -> ServiceExtensions {
    var extensions = ServiceExtensions()
    extensions.dataSources["chosen"] = ChosenUsers(ids: ids)
    return extensions
}
// article: end
