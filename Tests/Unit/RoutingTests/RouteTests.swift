import Foundation
import HTTPTypes
import Logging
import Testing

@testable import IntertwineHTTPServer

@Suite("Declared routes")
struct RouteTests {
    private enum Colour: String, CaseIterable, Sendable { case red, green, blue }

    private static let count = Parameter.integer("count", in: 1...9, default: 2, "How many.", example: 3)
    private static let colour = Parameter.word("colour", default: Colour.red, "Which.", example: .blue)
    private static let name = Parameter.segment("name", .string(minLength: 1), "Whose.", example: "\"ada\"")

    private static let thing = Schema.object([.required("name", .string), .optional("part", part)]).named("Thing")
    private static let part = Schema.choice([screw, nail]).named("Part")
    private static let screw = Schema.object([.required("type", .word("screw")), .required("size", .count.orNull)]).named("Screw")
    private static let nail = Schema.object([.required("type", .word("nail"))]).named("Nail")

    private static let routes = [
        Route(
            .get, "/things/{name}.json",
            APIOperation(
                "getThing", tag: "Things", "A thing", parameters: [name, count, colour],
                responses: [.json(.ok, "It.", thing, example: #"{"name": "ada"}"#)])
        ) { request in
            let text = "\(try request[name]) \(try request[count]) \(try request[colour])"
            return ServerResponse(status: .ok, body: Array(text.utf8))
        },
        Route(.get, "/things/all") { _ in ServerResponse(status: .ok, body: Array("all".utf8)) },
        Route(
            .delete, "/things/{name}",
            APIOperation(
                "deleteThing", tag: "Things", "Remove a thing", parameters: [name],
                responses: [
                    .empty(.noContent, "Gone."),
                    .problem(.notFound, "None.", [.init(Problem.ProblemType("no-thing", "There is no such thing."), "There is none.")]),
                ])
        ) { _ in throw Problem(.notFound, Problem.ProblemType("no-thing", "There is no such thing."), "There is none.") },
    ]

    private static func ask(_ method: HTTPRequest.Method, _ path: String) async throws -> (status: Int, text: String) {
        let router = Router(routes, clock: { 0 }, logger: Logger(label: "tests"))
        let head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: path)
        let (response, body) = try await router.response(to: head, body: [], from: try #require(PeerAddress("127.0.0.1", port: 1)))
        return (response.status.code, String(decoding: body, as: UTF8.self))
    }

    @Test(
        "Parameters are checked before the handler runs",
        arguments: [
            ("/things/ada.json", 200, "ada 2 red"), ("/things/a%20b.json?count=9&colour=blue", 200, "a b 9 blue"),
            ("/things/ada.json?count=10", 400, "count must be a whole number from 1 to 9."),
            ("/things/ada.json?colour=pink", 400, "colour must be one of red, green, blue."),
            ("/things/%ff.json", 400, "The path is not valid UTF-8."), ("/things/.json", 405, "Allowed methods: DELETE, OPTIONS."),
            ("/things/all", 200, "all"), ("/things/ada", 405, "Allowed methods: DELETE, OPTIONS."),
            ("/thing", 404, "No resource at this path."),
        ])
    func parameters(path: String, status: Int, text: String) async throws {
        let answer = try await Self.ask(.get, path)
        #expect(answer.status == status)
        #expect(status == 200 ? answer.text == text : answer.text.contains(text), "\(answer.text)")
    }

    @Test(
        "A request is matched once and answered by the cheapest kind of its route",
        arguments: [
            ("/kinds/cached", "cached"), ("/kinds/a", "pending a"), ("/kinds/a?b", "pending a"), ("/kinds/%61", "task a"),
            ("/k%69nds/a", "task a"), ("/kinds/later", "task later"),
        ])
    func kinds(path: String, text: String) async throws {
        let cached = EncodedResponse(ServerResponse(status: .ok, body: Array("cached".utf8)))
        let route = Route(
            .get, "/kinds/{name}", cached: { head, _ in head.hasTarget("/kinds/cached") ? cached : nil },
            pending: { head, match in
                let name = match.segment("name", of: head)
                guard name != "later" else { return nil }
                return { promise in
                    promise.complete { .response(ServerResponse(status: .ok, body: Array("pending \(name)".utf8))) }
                    return nil
                }
            }
        ) { ServerResponse(status: .ok, body: Array("task \($0.segment("name"))".utf8)) }
        let router = Router([route], clock: { 0 }, logger: Logger(label: "tests"))
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
        let (_, body) = try await router.response(to: head, body: [], from: try #require(PeerAddress("127.0.0.1", port: 1)))
        #expect(String(decoding: body, as: UTF8.self) == text)
    }

    @Test(
        "The matching pattern with the most literal segments answers",
        arguments: [
            ("/a/b", "/a/b"), ("/a/c", "/a/{x}"), ("/d/b", "/{x}/b"), ("/d/c", "/{x}/{y}"), ("/%61/b", "/a/b"), ("/a", "/a"),
            ("/b", "/{x}"),
            ("/a/b/c", nil), ("/", nil), ("/a/", nil),
        ])
    func precedence(path: String, pattern: String?) async throws {
        let routes = ["/{x}/{y}", "/{x}/b", "/a/{x}", "/a/b", "/{x}", "/a"].map { pattern in
            Route(.get, pattern) { _ in ServerResponse(status: .ok, body: Array(pattern.utf8)) }
        }
        let router = Router(routes, clock: { 0 }, logger: Logger(label: "tests"))
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
        let (response, body) = try await router.response(to: head, body: [], from: try #require(PeerAddress("127.0.0.1", port: 1)))
        #expect(response.status == (pattern == nil ? .notFound : .ok))
        if let pattern { #expect(String(decoding: body, as: UTF8.self) == pattern) }
    }

    @Test("An error of a route becomes a problem with its type")
    func problems() async throws {
        let answer = try await Self.ask(.delete, "/things/ada")
        #expect(answer.status == 404 && answer.text.contains("/problems/no-thing"))
    }

    private static func document() throws -> [String: Any] {
        let document = OpenAPIDocument(
            title: "Things", summary: "Of tests.", text: "", tags: [("Things", "All.")], responses: [.badRequest, .requestTimeout])
        let json = try JSONSerialization.jsonObject(with: Data(document.json(of: routes).utf8))
        return try #require(json as? [String: Any])
    }

    @Test("The description has all declarations, each component once, and shared responses")
    func description() throws {
        let document = try Self.document()
        let paths = try #require(document["paths"] as? [String: [String: [String: Any]]])
        #expect(Set(paths.keys) == ["/things/{name}.json", "/things/{name}"])
        let get = try #require(paths["/things/{name}.json"]?["get"])
        #expect(get["operationId"] as? String == "getThing")
        let parameters = try #require(get["parameters"] as? [[String: Any]])
        #expect(parameters.map { $0["name"] as? String } == ["name", "count", "colour"])
        #expect((parameters[1]["schema"] as? [String: Any])?["maximum"] as? Int == 9)
        #expect(Set((get["responses"] as? [String: Any] ?? [:]).keys) == ["200", "400", "408"])
        let components = try #require(document["components"] as? [String: [String: [String: Any]]])
        #expect(
            Set(components["schemas"]?.keys ?? [:].keys) == ["Thing", "Part", "Screw", "Nail", "Problem", "ProblemType", "InvalidValue"])
        #expect(components["schemas"]?["ProblemType"]?["examples"] as? [String] == ["about:blank", "/problems/no-thing"])
        let choice = components["schemas"]?["Part"]?["oneOf"] as? [[String: String]]
        #expect(choice == [["$ref": "#/components/schemas/Screw"], ["$ref": "#/components/schemas/Nail"]])
        let size = (components["schemas"]?["Screw"]?["properties"] as? [String: [String: Any]])?["size"]
        #expect(size?["type"] as? [String] == ["integer", "null"])
    }

    @Test("A schema document includes all its references")
    func schema() throws {
        let bytes = Self.thing.document(id: "/schemas/thing.json")
        let schema = try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
        #expect(schema["$ref"] as? String == "#/$defs/Thing")
        #expect(Set((schema["$defs"] as? [String: Any] ?? [:]).keys) == ["Thing", "Part", "Screw", "Nail"])
    }
}
