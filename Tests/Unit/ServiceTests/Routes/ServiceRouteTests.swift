import HTTPTypes
import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService

@Suite("Routes of an embedding program", .timeLimit(.untilStuck))
struct ServiceRouteTests {
    private static func route(_ pattern: String, _ method: HTTPRequest.Method = .get) -> ServiceRoute {
        ServiceRoute(method, pattern) { _, context in ServerResponse(body: context.route) }
    }

    /// Refuses requests without the token, and counts what it passes on.
    private struct TokenGate: ServiceMiddleware {
        var open: Set<String> = []

        func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
            if let route, open.contains(route) { return next.handle(head, peer: peer) }
            guard head.request.headerFields[.authorization] == "Bearer secret" else {
                return .respond(ServerResponse(status: .unauthorized, body: "no token"), route: route)
            }
            return next.handle(head, peer: peer)
        }
    }

    /// Writes the matched route and the length of the body behind the body.
    private struct Signature: ServiceMiddleware {
        let name: String

        func handle(_ head: borrowing RequestHead, peer: PeerAddress, route: String?, next: any HTTPHandler) -> HandlerResult {
            next.handle(head, peer: peer) { request, respond in
                var response = try await respond(request)
                guard let body = response.bytes else { return response }
                response.replaceBody(with: body + Array(" \(name) \(route ?? "") \(body.count)".utf8))
                return response
            }
        }
    }

    @Test(
        "A route that no request can reach ends the start with its reason",
        arguments: [
            (["x"], "route GET x: a path begins with /"), (["/p/:id"], "route GET /p/:id: a parameter is written {id}"),
            (["/files/**"], "no wildcards"), (["/feed"], "route GET /feed: the product has this route"),
            (["/a/{x}", "/a/{x}"], "route GET /a/{x}: it is declared twice"),
            (["/a/{x}", "/a/{y}"], "route GET /a/{y}: /a/{x} matches the same paths first"),
            (["/cells/{cell}"], "/cells/{id} matches the same paths first"), (["/a b"], "write 'a%20b'"), (["/a?b"], "write 'a%3Fb'"),
            (["/{}"], "is not the name of a parameter"), (["/{a}/{a}"], "two parameters are named 'a'"),
            (["/a{b}"], "at the start of a segment"),
        ])
    func dead(patterns: [String], reason: String) async throws {
        var extensions = ServiceExtensions()
        extensions.routes = patterns.map { Self.route($0) }
        let error = await #expect(throws: ConfigurationError.self) { _ = try await TestService(extensions: extensions) }
        #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }

    @Test("Routes of several methods, and with suffixes and literals beside parameters, are served")
    func served() async throws {
        var extensions = ServiceExtensions()
        extensions.routes = [
            Self.route("/a/{x}"), Self.route("/a/{x}", .delete), Self.route("/a/b"), Self.route("/a/{x}.json"), Self.route("/c%20d"),
            Self.route("/feed", .put),
        ]
        try await TestService.run(extensions: extensions) { service in
            for (path, pattern) in [("/a/1", "/a/{x}"), ("/a/b", "/a/b"), ("/a/1.json", "/a/{x}.json"), ("/c%20d", "/c%20d")] {
                let answer = try await service.client.get(path)
                #expect(answer.text == pattern)
            }
            let (deletion, write) = (try await service.client.delete("/a/1"), try await service.client.put("/feed"))
            #expect(deletion.text == "/a/{x}" && write.text == "/feed")
        }
        extensions.routes = [Self.route("/a", .head)]
        let error = await #expect(throws: ConfigurationError.self) { _ = try await TestService(extensions: extensions) }
        #expect(error?.description.contains("HEAD has the route of GET") == true)
    }

    @Test("Parameters have types, and errors name them", arguments: TestService.Transport.allCases)
    func parameters(way: TestService.Transport) async throws {
        var extensions = ServiceExtensions()
        extensions.routes = [
            ServiceRoute(.get, "/portions/{count}") { _, context in
                let count = try context.parameters.require("count", as: Int.self)
                return try .json(["count": count * (context.query("times", as: Int.self) ?? 1)])
            },
            ServiceRoute(.get, "/misspelt/{count}") { _, context in ServerResponse(body: try context.parameters.require("cuont")) },
        ]
        try await TestService.run(way, extensions: extensions) { service in
            let answer = try await service.client.get("/portions/4?times=3")
            #expect(answer.status == 200 && answer.text == #"{"count":12}"# && answer["content-type"] == "application/json")
            for (path, name) in [("/portions/four", "count"), ("/portions/4?times=x", "times"), ("/portions/4?times=1&times=2", "times")] {
                let answer = try await service.client.get(path)
                #expect(answer.status == 400 && answer.text.contains(#""parameter":"\#(name)""#), "\(answer.text)")
            }
            let answer1 = try await service.client.get("/misspelt/4")
            #expect(answer1.status == 500)
            let line = service.log.lines.last { $0.level == .error }
            #expect(line?.text.contains("/misspelt/{count} has no parameter 'cuont'; it has 'count'") == true)
        }
    }

    @Test("A route has the viewer and the parts of the service")
    func context() async throws {
        var extensions = ServiceExtensions()
        extensions.routes = [
            ServiceRoute(.get, "/me/{id}") { _, context in
                let id = try context.parameters.require("id")
                let item = try await context.read { try $0.item(kind: "user", id: id) }
                let saved = try await context.contains("user:\(id)", on: .saved)
                context.logger.notice("a viewer was read")
                let isNow = context.now == context.clock()
                return ServerResponse(body: "\(try await context.viewer ?? "nobody") \(item?.id ?? "none") \(saved) \(isNow)")
            }
        ]
        try await TestService.run(
            items: sampleItems(users: 1), settings: ["actions.user.selection": "save"], extensions: extensions
        ) { service in
            let answer2 = try await service.client.get("/me/0")
            #expect(answer2.text == "nobody 0 false true")
            let viewer = ["X-Viewer-ID": "ann"]
            let answer3 = try await service.client.post("/cells/user:0/selection", fields: viewer)
            #expect(answer3.status == 200)
            let answer4 = try await service.client.get("/me/0", fields: viewer)
            #expect(answer4.text == "ann 0 true true")
            #expect(service.log.lines.contains { $0.text.hasPrefix("a viewer was read") })
        }
    }

    @Test("The middleware of a group is around its routes only", arguments: TestService.Transport.allCases)
    func groups(way: TestService.Transport) async throws {
        var extensions = ServiceExtensions()
        extensions.routes =
            ServiceRoute.group(
                "/kitchen", middleware: [TokenGate()],
                [Self.route("/orders")] + ServiceRoute.group("/stock", middleware: [Signature(name: "inner")], [Self.route("/{id}")]))
            + [Self.route("/menu")]
        try await TestService.run(way, items: sampleItems(users: 1), extensions: extensions) { service in
            let token = ["Authorization": "Bearer secret"]
            for path in ["/kitchen/orders", "/kitchen/stock/1"] {
                let answer = try await service.client.get(path)
                #expect(answer.status == 401)
            }
            let answer5 = try await service.client.get("/kitchen/orders", fields: token)
            #expect(answer5.text == "/kitchen/orders")
            let stock = try await service.client.get("/kitchen/stock/1", fields: token)
            #expect(stock.text == "/kitchen/stock/{id} inner /kitchen/stock/{id} 19")
            for path in ["/menu", "/feed", "/healthz"] {
                let answer = try await service.client.get(path)
                #expect(answer.status == 200)
            }
            let answer6 = try await service.client.send(.options, "/kitchen/orders")
            #expect(answer6.status == 204)
        }
    }

    @Test(
        "Middleware around all routes sees the matched route, and replaces bodies of cached pages",
        arguments: TestService.Transport.allCases)
    func all(way: TestService.Transport) async throws {
        var extensions = ServiceExtensions()
        extensions.middleware = [TokenGate(open: ["/healthz"]), Signature(name: "all")]
        try await TestService.run(way, items: sampleItems(users: 1), extensions: extensions) { service in
            for (path, status) in [("/healthz", 200), ("/feed", 401), ("/nowhere", 401)] {
                let answer = try await service.client.get(path)
                #expect(answer.status == status)
            }
            for _ in 0..<2 {
                let page = try await service.client.get("/feed", fields: ["Authorization": "Bearer secret"])
                let length = page.text.utf8.count - " all /feed 0000".utf8.count
                #expect(page.status == 200 && page.text.contains("user:0") && page["etag"] == nil)
                #expect(page.text.hasSuffix(" all /feed \(length)"), "\(page.text.suffix(40))")
            }
        }
    }

    @Test("A list of the program is shown as a feed")
    func lists() async throws {
        struct PinCommand: UndoableCommand {
            let name = "pin"
            let needs: CommandRequirements = .viewer

            func perform(in context: inout CommandContext) async throws { try context.put(on: "pinned") }

            func undo(_ record: [UInt8], in context: inout CommandContext) async throws { try context.revert(record, from: "pinned") }
        }
        var extensions = ServiceExtensions(commands: [PinCommand()])
        extensions.lists = ["pinned"]
        try await TestService.run(
            items: sampleItems(users: 5), settings: ["actions.user.selection": "pin"], extensions: extensions
        ) { service in
            let viewer = ["X-Viewer-ID": "ann"]
            for id in 0..<3 { _ = try await service.client.post("/cells/user:\(id)/selection", fields: viewer) }
            struct Page: Decodable {
                struct Cell: Decodable { let id: String }
                struct Links: Decodable { let next: String? }
                let cells: [Cell]
                let page: Links
            }
            let first = try await service.client.get("/lists/pinned?limit=2", fields: viewer).decoded(as: Page.self)
            #expect(first.cells.map(\.id) == ["user:2", "user:1"])
            let second = try await service.client.get(try #require(first.page.next), fields: viewer).decoded(as: Page.self)
            #expect(second.cells.map(\.id) == ["user:0"])
            let answer7 = try await service.client.get("/lists/pinned")
            #expect(answer7.status == 403)
            let answer8 = try await service.client.get("/openapi.json")
            #expect(answer8.text.contains("getPinned"))
        }
        for lists: [ViewerList] in [["a b"], ["saved"], ["x", "x"]] {
            extensions.lists = lists
            let extensions = extensions
            await #expect(throws: ConfigurationError.self) { _ = try await TestService(extensions: extensions) }
        }
    }
}
