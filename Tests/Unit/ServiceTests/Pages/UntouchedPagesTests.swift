import Foundation
import IntertwineTesting
import TestSupport
import Testing

@testable import IntertwineService
@testable import IntertwineStorage

@Suite("Cached pages after writes", .timeLimit(.untilStuck))
struct UntouchedPagesTests {
    private static let misses = "intertwine_feed_page_cache_misses_total"

    private static func user(_ id: Int, _ name: String, _ type: String = "regular") -> String {
        #"{"kind":"user","id":"\#(id)","username":"\#(name)","avatarUrl":"http://pictures.sample.invalid/avatar-0.png","type":"\#(type)"}"#
    }

    private static func service(_ users: Range<Int>, order: String) async throws -> (service: TestService, kinds: String) {
        let kinds = NSTemporaryDirectory() + "intertwine-\(UUID()).yaml"
        try "sections: {main: {order: \(order)}}".write(toFile: kinds, atomically: true, encoding: .utf8)
        let items = users.map { user($0, "n\($0)n") + "\n" }.joined()
        return (try await TestService(.socket, items: items, settings: ["kinds.file": kinds]), kinds)
    }

    /// Writes through the operators' listener.
    private static func put(_ user: String, _ id: Int, into service: TestService) throws {
        #expect(try service.admin("PUT", "/admin/items/user/\(id)", fields: ["If-Match: *"], body: user).status == 200)
    }

    /// Writes from another connection to the file.
    private static func bring(_ user: String, to service: TestService) throws {
        let session = try ItemImport(into: "\(service.folder)/items.sqlite")
        try session.append(Array(user.utf8))
        try session.endOfFile()
        #expect(try session.commit().replaced == 1)
    }

    @Test("A replacement of an item invalidates pages with the item, not other pages")
    func replaced() async throws {
        let (service, kinds) = try await Self.service(0..<60, order: "imported")
        defer { try? FileManager.default.removeItem(atPath: kinds) }
        try await offPool {
            /// Whether the request caused a cache miss.
            func isMade(_ name: String? = nil) throws -> Bool {
                let before = try service.metric(Self.misses)
                let page = try service.get("/feed?limit=20")
                #expect(page.status == 200 && name.map(page.text.contains) ?? true)
                return try service.metric(Self.misses) > before
            }
            #expect(try isMade("n5n"))
            for round in 1...3 { try Self.put(Self.user(40, "elsewhere \(round)"), 40, into: service) }
            #expect(try !isMade("n5n"))
            try Self.put(Self.user(5, "new name"), 5, into: service)
            #expect(try isMade("new name"))
            try Self.put(Self.user(41, "elsewhere"), 41, into: service)
            #expect(try !isMade("new name"))
            // A new type may hide the item.
            try Self.put(Self.user(40, "elsewhere", "featured"), 40, into: service)
            #expect(try isMade())
            // A write by another connection is visible, also after a later write through the service.
            try Self.bring(Self.user(6, "by another"), to: service)
            try Self.put(Self.user(41, "once more"), 41, into: service)
            #expect(try isMade("by another"))
            #expect(try service.admin("DELETE", "/admin/items/user/59").status == 204)
            #expect(try isMade())
        }
        await service.stop()
    }

    @Test(
        "Pages equal the content of the store after any sequence of writes",
        arguments: ["imported", "newest", "field username"])
    func model(order: String) async throws {
        let (service, kinds) = try await Self.service(0..<40, order: order)
        defer { try? FileManager.default.removeItem(atPath: kinds) }
        try await offPool {
            var random = SeededRandom(seed: 15)
            var users = (0..<40).map { (id: $0, name: "n\($0)n", type: "regular") }
            for round in 0..<50 {
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let index = Int.random(in: users.indices, using: &random)
                    users[index].name = "n\(round)r\(Int.random(in: 0..<1_000, using: &random))n"
                    switch Int.random(in: 0..<12, using: &random) {
                    case 0:
                        #expect(try service.admin("DELETE", "/admin/items/user/\(users[index].id)").status == 204)
                        users.remove(at: index)
                        continue
                    case 1: users[index].type = users[index].type == "regular" ? "featured" : "regular"
                    case 2:
                        try Self.bring(Self.user(users[index].id, users[index].name, users[index].type), to: service)
                        continue
                    default: break
                    }
                    try Self.put(Self.user(users[index].id, users[index].name, users[index].type), users[index].id, into: service)
                }
                var (path, names) = ("/feed?limit=\(round % 2 == 0 ? 7 : 12)" as String?, [String]())
                while let next = path {
                    let page = try service.get(next).text
                    for match in page.matches(of: /"text":"(n\d+(?:r\d+)?n)"/) where names.last != String(match.output.1) {
                        names.append(String(match.output.1))
                    }
                    path = page.firstMatch(of: /"next":"([^"]+)"/).map { String($0.output.1) }
                }
                let wanted = users.map(\.name)
                switch order {
                case "imported": #expect(names == wanted, "round \(round)")
                case "newest": #expect(names == wanted.reversed(), "round \(round)")
                default: #expect(names == wanted.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, "round \(round)")
                }
            }
        }
        await service.stop()
    }
}
