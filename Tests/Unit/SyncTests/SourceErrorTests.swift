import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages
@testable import IntertwineService
@testable import IntertwineStorage

@Suite("Failing sources", .timeLimit(.untilStuck))
struct SourceErrorTests {
    static let nine = (1...9).map { "u\($0)" }

    /// A house in step with nine users, whose origin then goes wrong.
    private func settled(_ adjust: (inout RemoteSource) -> Void = { _ in }) async throws -> (Api, House) {
        let api = try Api(Self.nine)
        let house = try House(api.origin, adjust: adjust)
        try await house.run()
        api.publish((1...9).map { "w\($0)" })
        return (api, house)
    }

    private func answer(_ body: String, onPage page: String) -> @Sendable (Origin.Request, OriginConnection) -> Bool {
        { request, connection in
            guard request.path.hasSuffix(page) else { return false }
            connection.answer(200, body: Array(body.utf8))
            return true
        }
    }

    @Test(
        "A truncated or malformed page changes nothing, on the first and later pages",
        arguments: ["users", "=2"],
        [
            (#"{"data":{"users":[{"id":"a","username":"x"#, "ends too early"), (#"{"data":{"users":[]}"#, "ends too early"),
            ("", "ends too early"),
            (#"{"data":{"users":{}}}"#, "/data/users is not an array; `items` in the source's declaration"),
            (#"{"data":[]}"#, "/data/users is missing"),
            ("null", "a JSON object or array is expected"),
            (#"{"data":{"users":[1]}}"#, "item 1: must be an object, is a number"),
            (#"{"data":{"users":[{"username":1}]}}"#, "item 1: username: must be a string, is a number"),
            ("<html><h1>Bad gateway</h1></html>", "byte 0: a JSON object or array is expected"),
        ])
    func malformed(page: String, body: (text: String, reason: String)) async throws {
        let (api, house) = try await settled()
        defer { api.origin.stop() }
        api.change { $0.instead = answer(body.text, onPage: page) }
        let failure = try await house.failure()
        #expect(failure.hasPrefix(page == "users" ? "page 1, " : "page 3, ") && failure.contains(body.reason), "\(failure)")
        #expect(try await house.ids() == Self.nine)
        api.change { $0.instead = nil }
        house.change { $0.removable = 1 }
        #expect(try await house.run().changes?.added == 9)
        await house.stop()
    }

    @Test("Failures of half of the pages change nothing", arguments: [0, 1])
    func halfFails(remainder: Int) async throws {
        let (api, house) = try await settled { $0.removable = 1 }
        defer { api.origin.stop() }
        api.change {
            $0.instead = { request, connection in
                let page = Int(request.path.split(separator: "=").last ?? "") ?? 0
                guard page % 2 == remainder else { return false }
                connection.answer(503, ["Retry-After: 7"], body: Array("sorry".utf8))
                return true
            }
        }
        #expect(try await house.failure() == "page \(remainder + 1): the origin returned 503")
        #expect(try await house.ids() == Self.nine)
        await house.stop()
    }

    @Test("A failed page is retried twice")
    func flaky() async throws {
        let api = try Api(Self.nine)
        defer { api.origin.stop() }
        let house = try House(api.origin)
        // Every second request fails: each page takes two.
        let fails: @Sendable (Origin.Request, OriginConnection) -> Bool = { _, connection in
            connection.answer(502)
            return true
        }
        api.change { $0.before = { number, state in state.instead = number % 2 == 1 ? fails : nil } }
        #expect(try await house.run().items == 9)
        let before = api.origin.requests.count
        api.change {
            $0.before = nil
            $0.instead = fails
        }
        #expect(try await house.failure() == "page 1: the origin returned 502")
        #expect(api.origin.requests.count == before + 3)
        await house.stop()
    }

    @Test("Retry-After of an origin is reported")
    func retryAfter() async throws {
        let (api, house) = try await settled()
        defer { api.origin.stop() }
        api.change {
            $0.instead = { _, connection in
                connection.answer(429, ["Retry-After: 120"])
                return true
            }
        }
        let failure = await #expect(throws: SourceError.self) { try await house.run() }
        #expect(failure?.retryAfter == .seconds(120))
        #expect(failure?.cause == .status)
        await house.stop()
    }

    @Test("An aborted connection changes nothing")
    func lost() async throws {
        let (api, house) = try await settled()
        defer { api.origin.stop() }
        api.change {
            $0.instead = { request, connection in
                guard request.path.hasSuffix("=3") else { return false }
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"data\":{\"users\":[")
                connection.finish()
                return true
            }
        }
        #expect(try await house.failure() == "page 4: the page is truncated (truncated)")
        #expect(try await house.ids() == Self.nine)
        await house.stop()
    }

    @Test(
        "Redirects and next pages to denied addresses are refused",
        arguments: ["http://10.0.0.1/", "http://127.0.0.2/", "http://169.254.169.254/latest", "http://[::1]/", "file:///etc/passwd"],
        [true, false])
    func privateAddress(target: String, isRedirect: Bool) async throws {
        let (api, house) = try await settled()
        defer { api.origin.stop() }
        let port = api.origin.port
        // The port is allowed: it is the address that is not.
        let location = target.replacing("1/", with: "1:\(port)/").replacing("2/", with: "2:\(port)/").replacing(
            "254/", with: "254:\(port)/")
        api.change {
            $0.instead = { _, connection in
                if isRedirect {
                    connection.answer(302, ["Location: \(location)"])
                } else {
                    connection.answer(200, ["Link: <\(location)>; rel=next"], body: Array(#"{"data":{"users":[]}}"#.utf8))
                }
                return true
            }
        }
        let failure = try await house.failure()
        let page = isRedirect ? 1 : 2
        let codes = ["(address-denied)", "(port-denied)", "(scheme-denied)"]
        #expect(failure.hasPrefix("page \(page): ") && codes.contains { failure.hasSuffix($0) }, "\(failure)")
        if !target.hasPrefix("file"), !target.contains("[") {
            let address = target.dropFirst("http://".count).prefix { $0 != "/" }
            let from = isRedirect ? "\(api.origin.url("/users")) redirects to " : ""
            #expect(failure.contains(": \(from)http://\(address):\(port)/"), "\(failure)")
            #expect(failure.contains("the address \(address) is private"), "\(failure)")
            #expect(failure.hasSuffix("as in sources.allowed-networks: [\(address)/32] (address-denied)"), "\(failure)")
        }
        #expect(try await house.ids() == Self.nine)
        await house.stop()
    }

    @Test("A list without too many items, or empty, is rejected")
    func shrunk() async throws {
        let (api, house) = try await settled()
        defer { api.origin.stop() }
        #expect(try await house.failure().contains("9 of 9 items would be removed"))
        api.publish([])
        #expect(try await house.failure().hasPrefix("the list is empty, which would remove all items of the source; `removable: 1`"))
        // What was refused is not remembered as what there is.
        #expect(try await house.failure().hasPrefix("the list is empty, which would remove all items of the source; `removable: 1`"))
        house.change { $0.removable = 1 }
        #expect(try await house.run().changes?.removed == 9)
        await house.stop()
    }

    @Test("Invalid items are skipped and reported if configured")
    func skip() async throws {
        let api = try Api([])
        defer { api.origin.stop() }
        let good = [Api.user("a", version: 1), Api.user("b", version: 1)]
        api.change { $0.instead = answer(#"{"data":{"users":[\#(good[0]),7,{"id":"c"},\#(good[1]),\#(good[0])]}}"#, onPage: "users") }
        let house = try House(api.origin) { $0.policy = .skip }
        let outcome = try await house.run()
        #expect(outcome.items == 2 && outcome.skipped == 3)
        #expect(try await house.ids() == ["a", "b"])
        #expect(
            house.skipped.events == [
                "page 1, item 2: must be an object, is a number", "page 1, item 3: username: is missing",
                "page 1, item 5: id: occurs twice in the list",
            ])
        house.change { $0.policy = .stop }
        #expect(try await house.failure() == "page 1, item 2: must be an object, is a number")
        await house.stop()
    }

    @Test("Lists beyond a limit of the source are rejected")
    func limits() async throws {
        let (api, house) = try await settled { $0.removable = 1 }
        defer { api.origin.stop() }
        house.change { $0.pageLimit = 3 }
        #expect(try await house.failure() == "the list has more than 3 pages; max-pages allows more")
        house.change { $0.pageLimit = 5 }
        house.change { $0.itemLimit = 8 }
        #expect(try await house.failure() == "the list has more than 8 items; max-items allows more")
        house.change { $0.itemLimit = 9 }
        #expect(try await house.run().items == 9)
        await house.stop()
    }

    @Test("Cycles of pages are detected")
    func circle() async throws {
        let (api, house) = try await settled()
        defer { api.origin.stop() }
        api.change {
            $0.instead = { request, connection in
                let page = request.path.hasSuffix("=1") ? 2 : 1
                connection.answer(
                    200, ["Link: </users?page=\(page)>; rel=next"],
                    body: Array(#"{"data":{"users":[\#(Api.user("c\(request.path)", version: 1))]}}"#.utf8))
                return true
            }
        }
        #expect(try await house.failure() == "page 3 names a next page that was read before")
        await house.stop()
    }

    @Test("Unreachable and silent origins are failures")
    func unreachable() async throws {
        let (api, house) = try await settled()
        api.change {
            $0.instead = { _, connection in
                connection.finish()
                return true
            }
        }
        #expect(try await house.failure().contains("the connection was lost"))
        api.origin.stop()
        let dead = try House(api.origin)
        let failure = try await dead.failure()
        #expect(["the connection was refused", "the connection was lost"].contains { failure.contains($0) })
        await dead.stop()
        await house.stop()
    }
}
