import Synchronization
import TestSupport
import Testing

@testable import IntertwineImages
@testable import IntertwinePrimitives

@Suite("Validation", .timeLimit(.untilStuck))
struct ValidationTests {
    private static let asks = "Cache-Control: max-age=1000, must-revalidate"

    private static func image(_ connection: OriginConnection, _ number: Int, _ fields: String...) {
        connection.answer(200, ["Content-Type: image/png"] + fields, body: TestImage.png(number))
    }

    @Test(
        "Validators are sent to their URL only, and a 304 of another URL confirms nothing", arguments: [false, true])
    func redirected(_ isMoved: Bool) async throws {
        let target = Mutex("/a1")
        let origin = try Origin { request, connection in
            switch request.path {
            case "/avatar": connection.answer(302, ["Location: \(target.withLock { $0 })", Self.asks])
            case "/a1" where request.headers["if-none-match"] != nil: connection.answer(304, [Self.asks])
            case "/a1": Self.image(connection, 1, "ETag: \"1\"", Self.asks)
            case _ where request.headers["if-none-match"] != nil: connection.answer(304, [Self.asks])
            default: Self.image(connection, 2, "ETag: \"1\"", Self.asks)
            }
        }
        defer { origin.stop() }
        let house = try House([origin])
        #expect(try await house.get(origin.url("/avatar")).body == TestImage.png(1))
        if isMoved { target.withLock { $0 = "/a2" } }
        house.pass(1_001)
        let again = try await house.get(origin.url("/avatar"))
        #expect(again.body == TestImage.png(isMoved ? 2 : 1) && again.outcome.outcome == (isMoved ? .miss : .revalidated))
        #expect(origin.requests.filter { $0.path != "/a1" }.allSatisfy { $0.headers["if-none-match"] == nil })
        #expect(origin.requests.count == 4)
        await house.stop()
    }

    @Test("A 304 updates only its fields", arguments: ["no-cache", "max-age=1000, must-revalidate"])
    func kept(_ control: String) async throws {
        let origin = try Origin { request, connection in
            if request.headers["if-none-match"] != nil { return connection.answer(304, ["ETag: \"1\""]) }
            Self.image(connection, 1, "ETag: \"1\"", "Cache-Control: \(control)")
        }
        defer { origin.stop() }
        let folder = TemporaryFolder()
        var house = try House([origin], folder: folder.path)
        let first = try await house.get(origin.url("/a"))
        for number in 2...4 {
            house.pass(1_001)
            let got = try await house.get(origin.url("/a"))
            #expect(got.outcome.outcome == .revalidated && got.body == TestImage.png(1))
            #expect(got.headers["Cache-Control"] == first.headers["Cache-Control"])
            #expect(origin.requests.count == number)
            // What was said is kept beside the image, also through a restart.
            await house.manager.flush()
            await house.stop()
            let next = try House([origin], folder: folder.path)
            next.pass(Int64(1_001 * (number - 1)))
            await next.manager.flush()
            house = next
        }
        await house.stop()
    }

    @Test("A 304 with another strong tag confirms nothing: the request is repeated unconditionally")
    func refuted() async throws {
        let count = Atomic<Int>(0)
        let origin = try Origin { request, connection in
            if request.headers["if-none-match"] != nil { return connection.answer(304, ["ETag: \"2\""]) }
            let number = count.add(1, ordering: .relaxed).newValue
            Self.image(connection, number, "ETag: \"\(number)\"", Self.asks)
        }
        defer { origin.stop() }
        let house = try House([origin])
        #expect(try await house.get(origin.url("/a")).body == TestImage.png(1))
        house.pass(1_001)
        let got = try await house.get(origin.url("/a"))
        #expect(got.body == TestImage.png(2) && got.outcome.outcome == .miss)
        #expect(origin.requests.map { $0.headers["if-none-match"] } == [nil, "\"1\"", nil])
        await house.stop()
    }

    @Test("An uncacheable redirect is requested each time")
    func redirectLifetime() async throws {
        let count = Atomic<Int>(0)
        let origin = try Origin { request, connection in
            guard request.path == "/avatar" else {
                return Self.image(connection, Int(request.path.dropFirst()) ?? 0, "Cache-Control: max-age=31536000")
            }
            let number = count.add(1, ordering: .relaxed).newValue
            connection.answer(302, ["Cache-Control: no-store", "Location: /\(number)"])
        }
        defer { origin.stop() }
        let house = try House([origin])
        for number in 1...3 { #expect(try await house.get(origin.url("/avatar")).body == TestImage.png(number)) }
        await house.stop()
    }

    @Test("A stale image is served if the name cannot be resolved")
    func nameGone() async throws {
        let target = Mutex("/a1")
        let origin = try Origin { request, connection in
            if request.path == "/a1" { return Self.image(connection, 1) }
            connection.answer(302, ["Location: \(target.withLock { $0 })", "Cache-Control: max-age=1000, stale-if-error=60"])
        }
        defer { origin.stop() }
        let house = try House([origin])
        #expect(try await house.get(origin.url("/avatar")).status == 200)
        target.withLock { $0 = "http://gone.example:\(origin.port)/" }
        house.pass(1_001)
        let got = try await house.get(origin.url("/avatar"))
        #expect(got.body == TestImage.png(1) && got.outcome.outcome == .stale && got.outcome.detail == "host-not-found")
        await house.stop()
    }

    @Test("A Retry-After date is respected", arguments: [429, 503])
    func retryDate(_ status: Int) async throws {
        let origin = try Origin { _, connection in
            connection.answer(status, ["Retry-After: " + HTTPDate.text(1_800_000_000 + 300)])
        }
        defer { origin.stop() }
        let house = try House([origin])
        #expect(try await house.get(origin.url("/a")).headers["Retry-After"] == "300")
        #expect(try await house.get(origin.url("/a")).headers["Retry-After"] == "300")
        #expect(origin.requests.count == 1)
        await house.stop()
    }

    @Test("A success resets consecutive failures")
    func row() async throws {
        let count = Atomic<Int>(0)
        let origin = try Origin { _, connection in
            let number = count.add(1, ordering: .relaxed).newValue
            if number == 1 { connection.answer(429, ["Retry-After: 1"]) } else { Self.image(connection, 1) }
        }
        defer { origin.stop() }
        let house = try House([origin])
        #expect(try await house.get(origin.url("/a")).status == 503)
        #expect(await house.manager.metrics().negativeEntries == 1)
        while try await house.get(origin.url("/a")).status == 503 { try await Task.sleep(for: .milliseconds(100)) }
        #expect(await house.manager.metrics().negativeEntries == 0)
        await house.stop()
    }

    @Test("Redirects to dead hosts do not open the circuit of the redirecting host")
    func deadTarget() async throws {
        let dead = try Origin { _, connection in connection.reset() }
        dead.stop()
        let origin = try Origin { request, connection in
            if request.path == "/a" { return Self.image(connection, 1) }
            connection.answer(302, ["Location: \(dead.url(request.path))"])
        }
        defer { origin.stop() }
        let house = try House([origin, dead])
        for number in 0..<10 { #expect(try await house.get(origin.url("/\(number)")).status == 502) }
        #expect(try await house.get(origin.url("/more")).failure?.reason == .circuitOpen)
        #expect(try await house.get(origin.url("/a")).status == 200)
        #expect(try await house.get(dead.url("/a")).failure?.reason == .circuitOpen)
        await house.stop()
    }

    @Test("A request lost on a persistent connection is sent at most twice")
    func twice() async throws {
        let origin = try Origin { request, connection in
            if request.path == "/die" { connection.reset() } else { Self.image(connection, 1) }
        }
        defer { origin.stop() }
        let house = try House([origin])
        #expect(try await house.get(origin.url("/a")).status == 200)
        #expect(try await house.get(origin.url("/die")).failure == ImageError(.fetch(.connectionLost)))
        #expect(origin.requests.count { $0.path == "/die" } == 2)
        #expect(await house.manager.metrics().retries == 1)
        await house.stop()
    }
}
