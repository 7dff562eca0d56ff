import Foundation
import IntertwineService
import Synchronization

/// A program with one extension of each kind, from the articles: the other files of this folder are their code.
///
///     ExtensionProbe FOLDER PORT ITEMS           the address, and a file of items
@main
struct ExtensionProbe {
    static func main() async throws {
        let (folder, port, items) = (CommandLine.arguments[1], Int(CommandLine.arguments[2]) ?? 0, CommandLine.arguments[3])
        var configuration = ServiceConfiguration()
        configuration.server.port = port
        configuration.store.database = "\(folder)/items.sqlite"
        configuration.admin.isEnabled = false

        // The kind of the article, with the command of another article in its slot.
        var extensions = ServiceExtensions(kinds: [NoteKind()], commands: [FollowCommand()]) { factories, registry in
            let commands = try CellCommands(
                kind: "note", slots: [.selection: ["analytics", "follow"]], registry: registry, offers: .viewer)
            try factories.register(NoteCellFactory(commands: commands), for: ItemType(kind: "note", variant: "plain"), prefix: "note")
        }
        extensions.lists = ["followed"]
        extensions.placement = ThirdAndLast()
        try configuration.importItems(Array(try Data(contentsOf: URL(fileURLWithPath: items))), extensions)

        let board = Board()
        let news = Announcements(
            fetch: { board.announcements(before: $0, $1) }, find: { board.announcement($0) }, changes: { board.count })
        let slow = Announcements(
            fetch: { _, _ in
                try await Task.sleep(for: .seconds(2))
                return []
            }, find: { _ in nil }, changes: { 0 })
        extensions.dataSources = ["news": news, "slow": slow]
        extensions.routes = ServiceRoute.group(
            "/kitchen", middleware: [ServerName()],
            [
                ServiceRoute(.post, "/news/{text}") { _, context in
                    board.add(try context.parameters.require("text"))
                    return ServerResponse(status: .noContent)
                },
                ServiceRoute(.get, "/news") { _, _ in try .json(["news": board.count]) },
            ])
        try await FeedService.build(configuration: configuration, extensions: extensions, logger: Logger(label: "feed")).run()
    }
}

/// The announcements of the other service.
private final class Board: Sendable {
    private let all = Mutex<[Announcements.Announcement]>([])

    var count: UInt64 { all.withLock { UInt64($0.count) } }

    func add(_ text: String) {
        all.withLock { all in
            all.insert(.init(id: "news\(all.count + 1)", text: text, published: Int64(all.count + 1)), at: 0)
        }
    }

    func announcements(before time: Int64?, _ count: Int) -> [Announcements.Announcement] {
        all.withLock { Array($0.filter { $0.published < time ?? .max }.prefix(count)) }
    }

    func announcement(_ id: String) -> Announcements.Announcement? { all.withLock { $0.first { $0.id == id } } }
}
