import Feed
import Foundation
import HTTPTypes
import Testing

@testable import Service

@Suite("Who asks, as far as the ledger may know")
struct ClientReaderTests {
    private static let day: Int64 = 86_400_000

    private func reader(_ settings: [String: String] = [:]) async throws -> ClientReader {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID()).yaml").path
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let configuration = try ServiceConfiguration(try await SettingSources(flags: settings, environment: [:], file: file))
        let key = try SigningKey(Array(repeating: 7, count: 32))
        return ClientReader(settings: configuration.events, keys: SigningKeys(current: key))
    }

    private func request(_ fields: [(String, String)] = []) throws -> HTTPRequest {
        var request = HTTPRequest(method: .get, scheme: "http", authority: "test", path: "/")
        request.headerFields[.userAgent] = "tests"
        for (name, value) in fields { request.headerFields[try #require(HTTPField.Name(name))] = value }
        return request
    }

    @Test(
        "any of the fields that say why a request was made is enough",
        arguments: [
            ([("Sec-Purpose", "prefetch")], Verdict.prefetch), ([("Sec-Purpose", "x"), ("Purpose", "prefetch")], .prefetch),
            ([("Sec-Purpose", ""), ("X-Moz", "prefetch")], .prefetch), ([("Purpose", "prerender")], .prefetch),
            ([("Sec-Purpose", "x"), ("Purpose", "y")], .counted),
        ] as [([(String, String)], Verdict)])
    func purposes(fields: [(String, String)], verdict: Verdict) async throws {
        #expect(try await reader().trace(of: request(fields), from: "192.0.2.1", now: 0).verdict == verdict)
    }

    @Test(
        "counting knows the whole address, whatever rows may have of it",
        arguments: [("truncated", "203.0.113.0/24"), ("none", nil), ("hashed", "hash")] as [(String, String?)])
    func addresses(mode: String, kept: String?) async throws {
        let reader = try await reader(["events.address": mode, "events.trust-forwarded": "true"])
        func trace(_ address: String, now: Int64 = 0) throws -> ClientTrace {
            try reader.trace(of: request([("X-Forwarded-For", "198.51.100.9, \(address)")]), from: "127.0.0.1", now: now)
        }
        let first = try trace("203.0.113.1")
        let hash = try #require(first.addressHash)
        #expect(first.address == (kept == "hash" ? hash : kept))
        #expect(try !hash.contains("203") && trace("203.0.113.1").addressHash == hash)
        #expect(try trace("203.0.113.2").addressHash != hash)
        #expect(try trace("::ffff:203.0.113.1").addressHash == hash)
        #expect(try trace("203.0.113.1", now: Self.day - 1).addressHash == hash)
        #expect(try trace("203.0.113.1", now: Self.day).addressHash != hash)
        #expect(try trace("nonsense").addressHash == nil)
        // More addresses than are remembered.
        for number in 0..<5_000 { _ = try trace("10.0.\(number / 256).\(number % 256)") }
        #expect(try trace("203.0.113.1").addressHash == hash)
    }

    @Test("where no field names viewers, there are none")
    func withoutViewers() async throws {
        let reader = try await reader(["events.viewer-header": ""])
        #expect(try reader.viewer(of: request([("X-Viewer-ID", "ann")])) == nil)
    }
}
