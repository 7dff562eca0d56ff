// Compiled together with the client that openapi-generator makes for Swift 6: feed, next page, selection, undo. The service's address is its
// only argument; every page of the fixtures comes on standard input, a path a line, and is decoded.
import Foundation

@main
struct Walk {
    struct Wrong: Error { var what: String }

    static func expect(_ isRight: Bool, _ what: String) throws {
        guard isRight else { throw Wrong(what: what) }
    }

    static func query(_ href: String) -> [String: String] {
        let items = URLComponents(string: href)?.queryItems ?? []
        return Dictionary(items.map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { first, _ in first })
    }

    static func main() async throws {
        FeedClientAPIConfiguration.shared.basePath = CommandLine.arguments[1]
        var pages = [try await FeedAPI.getFeed(limit: 2)]
        while let next = pages.last?.page.next {
            let query = query(next)
            pages.append(try await FeedAPI.getFeed(limit: query["limit"].flatMap(Int.init), cursor: query["cursor"]))
        }
        let cells = pages.flatMap(\.cells)
        try expect(pages.count == 3, "\(pages.count) pages")
        guard let grace = cells.first(where: { $0.id == "user:grace" }), let ad = cells.first(where: { $0.id == "ad:1" }),
            case .typeBindAction(let binding)? = grace.actions.configuration,
            case .typeTextBinding(let username)? = binding.bindings["username"],
            case .typeImageBinding(let avatar)? = binding.bindings["avatar"],
            case .typeRequestAction(let selection)? = grace.actions.selection,
            case .typeLinkAction(let link)? = ad.actions.selection
        else { throw Wrong(what: "the cells have lost something: \(cells)") }
        try expect(grace.identifier == "UserSnapshotCollectionViewCell" && grace.size.width == 300, "\(grace)")
        try expect(username.text == "Grace" && avatar.href.hasPrefix("/images/"), "\(binding)")
        try expect(selection.href == "/cells/user:grace/selection" && link.href.hasPrefix("/click/"), "\(selection) \(link)")

        let done = try await ActionsAPI.selectCell(id: grace.id)
        try expect(done.presentation?.screen == "ImageZoom", "\(done)")
        let undone = try await ActionsAPI.undoInvocation(id: done.invocation?.id ?? "")
        try expect(undone.commands.map(\.outcome) == [.undone, .undone], "\(undone)")

        let first = try await FeedAPI.getFeed(limit: 2, changes: true)
        guard case .typeBatchUpdate(let update) = try await FeedAPI.getFeedChanges(syncToken: first.page.syncToken ?? ""),
            update.removed.isEmpty,
            case .typeReload = try await FeedAPI.getFeedChanges(syncToken: "AAAA")
        else { throw Wrong(what: "changes") }

        while let path = readLine() {
            let page = try JSONDecoder().decode(Page.self, from: try Data(contentsOf: URL(fileURLWithPath: path)))
            let unknown = page.cells.first { $0.id == "story:1" }
            if let unknown {
                guard case .typeUnknownAction? = unknown.actions.selection,
                    case .typeBindAction(let binding)? = unknown.actions.configuration,
                    case .typeUnknownBinding? = binding.bindings["weather"]
                else { throw Wrong(what: "\(unknown)") }
            }
        }
        print("the Swift client walked \(pages.count) pages, selected, undid and decoded the fixtures")
    }
}
