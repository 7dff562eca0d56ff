// article: DataSourceOfYourOwn
import IntertwineService

/// The users that an editor has chosen, in the editor's order.
struct ChosenUsers: DataSource {
    let ids: [String]
    let sectionCount = 1

    func itemCount(in section: Int, of snapshot: any FeedSnapshot) -> Int { ids.count }

    func items(
        in section: Int, _ direction: PageDirection, of place: SortPosition?, limit: Int, from snapshot: any FeedSnapshot
    ) throws -> [FeedItem] {
        var chosen: [FeedItem] = []
        for index in direction == .forward ? Array(ids.indices) : ids.indices.reversed() where chosen.count < limit {
            let position = Int64(index)
            if let place, direction == .forward ? position <= place.position : position >= place.position { continue }
            guard var item = try snapshot.item(kind: "user", id: ids[index]) else { continue }
            item.position = position  // Its place in this feed.
            chosen.append(item)
        }
        return chosen
    }
}

/// Served at `/feeds/chosen`.
func extensions(choosing ids: [String]) -> ServiceExtensions {
    var extensions = ServiceExtensions()
    extensions.dataSources["chosen"] = ChosenUsers(ids: ids)
    return extensions
}
// article: end
