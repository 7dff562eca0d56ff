import Foundation
import Synchronization
import TestSupport
import Testing

/// Random operations of viewers and operators, with each page compared to one that a few lines compute from all items.
@Suite("Feeds against a model", .timeLimit(.untilStuck))
struct FeedModelTests {
    @Test("Each page has what the model has", arguments: CountTests.Store.allCases)
    func equal(store: CountTests.Store) async throws {
        let seed = UInt64.random(in: 0...UInt64(UInt32.max))
        let found = try await offPool {
            try FeedModel(store, seed: seed).differences(in: TestSize.full(2_000, small: 200), untilFound: true)
        }
        #expect(found.isEmpty, "seed \(seed): \(found.joined(separator: "\n"))")
    }

    @Test("A model without one of the rules is detected", arguments: FeedModel.Rule.allCases)
    func broken(rule: FeedModel.Rule) async throws {
        let found = try await offPool { try FeedModel(.files, seed: 7, without: rule).differences(in: 400, untilFound: true) }
        #expect(!found.isEmpty)
    }
}

final class FeedModel {
    /// A rule that a model can lack, so that it differs from the service.
    enum Rule: CaseIterable { case muted, followed, filtered, hidden }

    private struct Post {
        var id: String
        var author: String
        var topic: String
        var tags: Set<String>
        var score: Int
        var order: Int
        var isHidden = false

        var cell: String { "post:\(id)" }
        var json: String {
            let tags = tags.sorted().map { "\"\($0)\"" }.joined(separator: ",")
            return
                #"{"kind":"post","id":"\#(id)","title":"\#(id)","authorId":"\#(author)","topic":"\#(topic)","score":\#(score),"tags":[\#(tags)]}"#
        }
    }

    private struct Viewer {
        var followed: Set<String> = []
        var muted: Set<String> = []
        var dismissed: [String: String] = [:]
        var liked: Set<String> = []
    }

    /// A place between two items of a list.
    private struct Place {
        var score: Int
        var order: Int
    }

    private struct Session {
        var feed: String
        var viewer: String?
        var query: [String: Set<String>]
        var next: String?
        var previous: String?
        var first: Place?
        var last: Place?
    }

    private static let kinds = """
        kinds:
          post:
            author: authorId
            fields:
              title: {type: text, required: true}
              authorId: {type: text, required: true}
              topic: {type: text, choices: [a, b, c], required: true}
              tags: tags
              score: {type: number, required: true}
            cells: {collection: {identifier: PostCell, size: 300x100, bind: {title: {text: title}, likes: {number: counts.likes}}}}
            actions: {follow: [follow], mute: [mute], dismissal: [dismiss], like: {list: liked, count: likes}}
        sections:
          posts: {kinds: [post], order: ORDER}
        feeds:
          main: {sections: [posts], filters: [topic, tags]}
          home: {sections: [posts], source: following, filters: [topic, tags]}
          ranked: {sections: [posts], ranked-by: "URL"}
        """

    private let service: RunningService
    private let origin: Origin
    /// What the ranker answers, in pages.
    private static let ranking = Mutex<[UInt16: [String]]>([:])
    private let rule: Rule?
    private let isByScore: Bool
    private var random: SeededRandom
    private var posts: [Post] = []
    private var viewers = ["ann": Viewer(), "bob": Viewer(), "many": Viewer()]
    private var sessions: [Session] = []
    private var found: [String] = []

    init(_ store: CountTests.Store, seed: UInt64, without rule: Rule? = nil) throws {
        random = SeededRandom(seed: seed)
        self.rule = rule
        isByScore = Bool.random(using: &random)
        origin = try Origin { request, connection in
            let query = URLComponents(string: request.path)?.queryItems ?? []
            func value(_ name: String) -> Int { query.first { $0.name == name }?.value.flatMap { Int($0) } ?? 0 }
            let port = request.headers["host"]?.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
            let all = FeedModel.ranking.withLock { $0[port] ?? [] }
            let end = min(all.count, value("cursor") + value("limit"))
            let items = all[min(value("cursor"), end)..<end].map { #"{"id":"\#($0)"}"# }.joined(separator: ",")
            connection.answer(200, body: Array((#"{"items":[\#(items)]"# + (end < all.count ? #","cursor":"\#(end)"}"# : "}")).utf8))
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID())").path
        let kinds = Self.kinds.replacing("URL", with: origin.url("/rank")).replacing(
            "ORDER", with: isByScore ? "field score descending" : "newest")
        try kinds.write(toFile: "\(folder).yaml", atomically: true, encoding: .utf8)
        let setting = "kinds.file=\(folder).yaml"
        service = try RunningService(
            settings: [
                RunningService.tokenSetting, setting, "log.requests=false", "limits.writes-per-address=1000000",
                "limits.writes-per-viewer=1000000",
                "feed.ranker-timeout=10s",
            ],
            database: store == .postgresql ? try PostgresServer.shared().makeDatabase().uri : nil)
        // One item of each of many authors, so many of one author that the newest items are none of the former, and active authors.
        for number in 0..<700 { add("user:u\(number)") }
        for _ in 0..<2_600 { add("user:z") }
        for _ in 0..<60 { add("user:a\(Int.random(in: 0..<8, using: &random))") }
        _ = try service.importItems(posts.map { $0.json + "\n" }.joined(), arguments: ["--set", setting])
        for number in 0..<520 {
            try act("many", "post:\(number)/follow")
            viewers["many"]?.followed.insert("user:u\(number)")
        }
    }

    deinit { origin.stop() }

    private func add(_ author: String) {
        let tags = ["red", "green", "blue", "café"].filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
        posts.append(
            Post(
                id: "\(posts.count)", author: author, topic: "abc".randomElement(using: &random).map(String.init) ?? "a", tags: Set(tags),
                score: Int.random(in: 0..<50, using: &random), order: posts.count))
    }

    /// Performs operations, and returns what differs.
    func differences(in count: Int, untilFound: Bool) throws -> [String] {
        for _ in 0..<count where found.isEmpty || !untilFound { try perform() }
        if rule == nil { try compareLikes() }
        return found
    }

    private func perform() throws {
        let viewer = ["ann", "bob", "many"].randomElement(using: &random) ?? "ann"
        // The active authors, most of the time.
        let index =
            Int.random(in: 0..<10, using: &random) < 8
            ? posts.count - Int.random(in: 1...60, using: &random) : .random(in: 0..<posts.count, using: &random)
        let post = posts[index]
        let isShown = !post.isHidden
        switch Int.random(in: 0..<24, using: &random) {
        case 0 where isShown:
            try act(viewer, "\(post.cell)/follow")
            viewers[viewer]?.followed.insert(post.author)
        case 2:
            guard let author = viewers[viewer]?.followed.randomElement(using: &random) else { break }
            try remove(viewer, "/following/\(author)")
            viewers[viewer]?.followed.remove(author)
        case 3 where isShown:
            try act(viewer, "\(post.cell)/mute")
            viewers[viewer]?.muted.insert(post.author)
        case 4:
            guard let author = viewers[viewer]?.muted.randomElement(using: &random) else { break }
            try remove(viewer, "/muted/\(author)")
            viewers[viewer]?.muted.remove(author)
        case 5 where isShown && viewers[viewer]?.dismissed[post.cell] == nil:
            viewers[viewer]?.dismissed[post.cell] = try act(viewer, "\(post.cell)/dismissal")
        case 7:
            guard let (cell, undo) = viewers[viewer]?.dismissed.randomElement(using: &random) else { break }
            try remove(viewer, undo)
            viewers[viewer]?.dismissed[cell] = nil
        case 8 where isShown:
            try act(viewer, "\(post.cell)/like")
            viewers[viewer]?.liked.insert(post.cell)
        case 9:
            guard let cell = viewers[viewer]?.liked.randomElement(using: &random) else { break }
            try remove(viewer, "/lists/liked/\(cell)")
            viewers[viewer]?.liked.remove(cell)
        case 10:
            let hiding = [#""draft":true"#, #""publishAt":"2999-01-01T00:00:00Z""#, #""expireAt":"2001-01-01T00:00:00Z""#]
            let all = #""draft":null,"publishAt":null,"expireAt":null"#
            posts[index].isHidden.toggle()
            try patch(post, post.isHidden ? all : hiding.randomElement(using: &random) ?? all)
        case 11:
            posts[index].topic = "abc".randomElement(using: &random).map(String.init) ?? "a"
            try patch(post, #""topic":"\#(posts[index].topic)""#)
        case 12:
            posts[index].tags = Bool.random(using: &random) ? [] : ["red", "café"]
            try patch(post, posts[index].tags.isEmpty ? #""tags":null"# : #""tags":["red","café"]"#)
        case 13:
            posts[index].score = Int.random(in: 0..<50, using: &random)
            try patch(post, #""score":\#(posts[index].score)"#)
        case 14: try rank(for: viewer)
        case 1, 6, 15, 16: try begin(viewer)
        default:
            guard !sessions.isEmpty else { return try begin(viewer) }
            try continueSession(sessions.indices.randomElement(using: &random) ?? 0)
        }
    }

    // MARK: Operations

    private func fields(_ viewer: String?) -> [String] { ["User-Agent: tests"] + (viewer.map { ["X-Viewer-ID: \($0)"] } ?? []) }

    private func encoded(_ path: String) -> String { path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path }

    @discardableResult
    private func act(_ viewer: String, _ path: String) throws -> String {
        let answer = try service.ask("POST", "/cells/\(encoded(path))", fields: fields(viewer))
        try #require(answer.status == 200, "\(path): \(answer.text)")
        return try JSON(answer.text)["undo"]?["href"]?.text ?? ""
    }

    private func remove(_ viewer: String, _ path: String) throws {
        let answer = try service.ask("DELETE", encoded(path), fields: fields(viewer))
        try #require(answer.status == 200 || answer.status == 204, "\(path): \(answer.text)")
    }

    private func patch(_ post: Post, _ members: String) throws {
        let answer = try service.admin("PATCH", "/admin/items", body: #"[{"kind":"post","id":"\#(post.id)",\#(members)}]"#)
        try #require(answer.status == 200, "\(members): \(answer.text)")
    }

    // MARK: Pages

    private func isBefore(_ one: Place, _ other: Place, in feed: String) -> Bool {
        isByScore && feed != "home" && one.score != other.score ? one.score > other.score : one.order > other.order
    }

    private func place(_ post: Post) -> Place { Place(score: post.score, order: post.order) }

    private func shown(_ post: Post, to viewer: String?) -> Bool {
        guard !post.isHidden || rule == .hidden else { return false }
        guard let viewer = viewer.flatMap({ viewers[$0] }) else { return true }
        return (rule == .muted || !viewer.muted.contains(post.author)) && viewer.dismissed[post.cell] == nil
    }

    private func list(_ session: Session) -> [Post] {
        posts.filter { post in
            if session.feed == "home", rule != .followed, session.viewer.flatMap({ viewers[$0] })?.followed.contains(post.author) != true {
                return false
            }
            if rule != .filtered {
                if let topics = session.query["topic"], !topics.contains(post.topic) { return false }
                if let tags = session.query["tags"], tags.isDisjoint(with: post.tags) { return false }
            }
            return shown(post, to: session.viewer)
        }.sorted { isBefore(place($0), place($1), in: session.feed) }
    }

    private func begin(_ viewer: String) throws {
        var query: [String: Set<String>] = [:]
        if Int.random(in: 0..<3, using: &random) == 0 { query["topic"] = [["a"], ["a", "c"]].randomElement(using: &random) }
        if Int.random(in: 0..<3, using: &random) == 0 {
            query["tags"] = [["red"], ["café", "blue"], ["none"]].randomElement(using: &random)
        }
        let session = Session(
            feed: Bool.random(using: &random) ? "main" : "home", viewer: Int.random(in: 0..<10, using: &random) == 0 ? nil : viewer,
            query: query)
        let text = query.flatMap { name, values in values.map { "&\(name)=\(encoded($0))" } }.joined()
        let all = list(session)
        let limit = Int.random(in: 1...9, using: &random)
        sessions = sessions.suffix(7)
        try compare(session, "/feeds/\(session.feed)?limit=\(limit)\(text)", with: Array(all.prefix(limit)), of: all)
    }

    /// The next or the previous page of a session, with another limit.
    private func continueSession(_ index: Int) throws {
        let session = sessions.remove(at: index)
        let isForward = session.previous == nil || Int.random(in: 0..<3, using: &random) > 0
        guard let href = isForward ? session.next : session.previous, let edge = isForward ? session.last : session.first else { return }
        let limit = Int.random(in: 1...9, using: &random)
        let all = list(session)
        let rest = all.filter { isForward ? isBefore(edge, place($0), in: session.feed) : isBefore(place($0), edge, in: session.feed) }
        let path = href.replacing(/limit=\d+/, with: "limit=\(limit)")
        try compare(session, path, with: isForward ? Array(rest.prefix(limit)) : rest.suffix(limit), of: all)
    }

    private func compare(_ session: Session, _ path: String, with wanted: [Post], of all: [Post]) throws {
        let answer = try service.get(path, fields: fields(session.viewer))
        let page = try JSON(answer.text)
        let cells = page["cells"]?.list.filter { $0["id"]?.text?.hasPrefix("post:") == true } ?? []
        let ids = cells.compactMap { $0["id"]?.text }
        var session = session
        (session.next, session.previous) = (page["page"]?["next"]?.text, page["page"]?["previous"]?.text)
        (session.first, session.last) = (wanted.first.map(place), wanted.last.map(place))
        var isEqual = answer.status == 200 && ids == wanted.map(\.cell)
        // An empty page has no place of its own.
        if let first = session.first, let last = session.last {
            isEqual = isEqual && (session.next != nil) == all.contains { isBefore(last, place($0), in: session.feed) }
            if session.previous != nil { isEqual = isEqual && all.contains { isBefore(place($0), first, in: session.feed) } }
            sessions.append(session)
        }
        if let viewer = session.viewer.flatMap({ viewers[$0] }) {
            for (cell, post) in zip(cells, wanted) where rule == nil {
                isEqual = isEqual && (cell["state"]?["following"] != nil) == viewer.followed.contains(post.author)
            }
        }
        if !isEqual {
            found.append("\(path) for \(session.viewer ?? "nobody"): \(ids), not \(wanted.map(\.cell)); \(answer.text.suffix(300))")
        }
    }

    /// The pages of a ranked feed, whose ranker also names what does not exist, is not shown, or was named before.
    private func rank(for viewer: String) throws {
        let names = (0..<20).map { _ in "post:\(Int.random(in: posts.count - 70..<posts.count + 3, using: &random))" }
        Self.ranking.withLock { $0[origin.port] = names }
        let known = Dictionary(posts.map { ($0.cell, $0) }) { first, _ in first }
        var (seen, cursor, path) = (Set<String>(), 0, "/feeds/ranked?limit=4" as String?)
        while let href = path {
            let limit = Int.random(in: 3...6, using: &random)
            var wanted: [String] = []
            for _ in 0..<4 where wanted.count < limit && cursor < names.count {
                let slice = names[cursor..<min(names.count, cursor + limit - wanted.count)]
                cursor += slice.count
                wanted += slice.filter { name in seen.insert(name).inserted && known[name].map { shown($0, to: viewer) } ?? false }
            }
            let answer = try service.get(href.replacing(/limit=\d+/, with: "limit=\(limit)"), fields: fields(viewer))
            let page = try JSON(answer.text)
            let ids = page["cells"]?.list.compactMap { $0["id"]?.text }.filter { $0.hasPrefix("post:") } ?? []
            // The feed's own order takes the place of a page of which nothing is shown.
            if wanted.isEmpty, cursor < names.count, page["page"]?["degraded"] != nil { return }
            if answer.status != 200 || ids != wanted { found.append("\(href) for \(viewer): \(ids), not \(wanted) of \(names)") }
            path = page["page"]?["next"]?.text
        }
        if cursor < names.count { found.append("the ranked feed of \(viewer) ended after \(cursor) of \(names.count) items") }
    }

    private func compareLikes() throws {
        let all = Set(viewers.values.flatMap(\.liked))
        for cell in all.sorted().prefix(20) where posts.contains(where: { $0.cell == cell && !$0.isHidden }) {
            let count = viewers.values.count { $0.liked.contains(cell) }
            try poll {
                let shown = try JSON(try service.get("/cells/\(cell)").text)
                return shown["actions"]?["configuration"]?["bindings"]?["likes"]?["number"]?.number == count
            }
        }
    }
}
