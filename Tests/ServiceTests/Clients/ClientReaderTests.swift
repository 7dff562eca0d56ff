import Foundation
import HTTPTypes
import IntertwineFeed
import IntertwineRouting
import Testing

@testable import IntertwineService

@Suite("Who asks, as far as the ledger may know")
struct ClientReaderTests {
    private static let day: Int64 = 86_400_000

    private func reader(_ settings: [String: String] = [:]) async throws -> ClientReader {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID()).yaml").path
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let configuration = try ServiceConfiguration(try await SettingSources(flags: settings, environment: [:], file: file))
        let key = try SigningKey(Array(repeating: 7, count: 32))
        return ClientReader(settings: configuration.events, viewerHeader: configuration.viewers.header, keys: SigningKeys(current: key))
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
        #expect(try await reader().fingerprint(of: request(fields), from: "192.0.2.1", now: 0).verdict == verdict)
    }

    @Test("two names are none: 400, and for a link that is followed whatever it says, nobody")
    func repeatedViewer() async throws {
        let reader = try await reader()
        var request = try request([("X-Viewer-ID", "alice")])
        #expect(try reader.viewer(of: request) == "alice")
        request.headerFields.append(HTTPField(name: try #require(HTTPField.Name("X-Viewer-ID")), value: "bob"))
        #expect(throws: Problem.self) { try reader.viewer(of: request) }
        #expect(throws: Problem.self) { try reader.fingerprint(of: request, from: "192.0.2.1", now: 0) }
        #expect(reader.fingerprintIgnoringErrors(of: request, from: "192.0.2.1", now: 0).viewer == nil)
    }

    @Test(
        "counting knows the whole address, and of IPv6 the network, whatever rows may have of it",
        arguments: [("truncated", "203.0.113.0/24"), ("none", nil), ("hashed", "hash")] as [(String, String?)])
    func addresses(mode: String, kept: String?) async throws {
        let reader = try await reader(["events.address": mode, "events.trust-forwarded": "true"])
        func trace(_ address: String, now: Int64 = 0) throws -> ClientFingerprint {
            try reader.fingerprint(of: request([("X-Forwarded-For", "198.51.100.9, \(address)")]), from: "127.0.0.1", now: now)
        }
        let first = try trace("203.0.113.1")
        let hash = try #require(first.addressHash)
        #expect(first.address == (kept == "hash" ? hash : kept))
        #expect(try !hash.contains("203") && trace("203.0.113.1").addressHash == hash)
        #expect(try trace("203.0.113.2").addressHash != hash)
        #expect(try trace("::ffff:203.0.113.1").addressHash == hash)
        // All of a network is one client's, to change as it likes.
        let network = try trace("2001:db8:0:1::1").addressHash
        #expect(try network != nil && trace("2001:db8:0:1:ffff:ffff::9").addressHash == network)
        #expect(try trace("2001:db8:0:2::1").addressHash != network)
        #expect(try trace("203.0.113.1", now: Self.day - 1).addressHash == hash)
        #expect(try trace("203.0.113.1", now: Self.day).addressHash != hash)
        #expect(try trace("nonsense").addressHash == reader.fingerprint(of: request(), from: "127.0.0.1", now: 0).addressHash)
        // More addresses than are remembered.
        for number in 0..<5_000 { _ = try trace("10.0.\(number / 256).\(number % 256)") }
        #expect(try trace("203.0.113.1").addressHash == hash)
    }

    @Test("yesterday's hash of an address comes with today's")
    func yesterday() async throws {
        let reader = try await reader()
        func trace(_ now: Int64) throws -> ClientFingerprint { try reader.fingerprint(of: request(), from: "203.0.113.1", now: now) }
        let (before, after) = (try trace(5 * Self.day - 1), try trace(5 * Self.day))
        #expect(before.addressHash != nil && after.yesterdaysAddressHashes == [before.addressHash])
        #expect(after.addressHash != before.addressHash && after.yesterdaysAddressHashes != before.yesterdaysAddressHashes)
    }

    @Test(
        "an address may stand with its port, and what is no address is left out for the peer",
        arguments: [
            ("198.51.100.9:1234", "198.51.100.9"), ("[2001:db8::1]:443", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"), ("unknown", "192.0.2.1"), ("", "192.0.2.1"), ("_hidden:80", "192.0.2.1"), ("[", "192.0.2.1"),
            ("1.2.3.4, 198.51.100.9 ", "198.51.100.9"), ("1.2.3.4,", "1.2.3.4"), ("::ffff:198.51.100.9", "::ffff:198.51.100.9"),
        ])
    func forwarded(field: String, address: String) async throws {
        let reader = try await reader(["events.trust-forwarded": "true"])
        #expect(try reader.address(of: request([("X-Forwarded-For", field)]), from: "192.0.2.1") == address)
    }

    @Test(
        "who asks for no trace leaves none, however often it is said",
        arguments: [
            ("DNT", "1", false), ("DNT", "1, 1", false), ("Sec-GPC", "0 ,1", false), ("DNT", "0", true), ("DNT", "11", true),
            ("DNT", "01x", true), ("Sec-GPC", "?1", true), ("DNT", "", true),
        ])
    func noTrace(name: String, value: String, leavesTrace: Bool) async throws {
        let (reader, request) = (try await reader(), try request([(name, value)]))
        #expect(try reader.fingerprint(of: request, from: "192.0.2.1", now: 0).isTracked == leavesTrace)
        // Campaigns go by the same.
        let facts = TargetingContextReader(attributesField: "", window: 1, clients: reader)
        #expect(facts.facts(of: request, from: "192.0.2.1", viewer: "ann", now: 0)?.viewer == (leavesTrace ? "ann" : nil))
    }

    @Test("a program that says so in one of two user agents is one to the ledger and to campaigns")
    func repeatedUserAgent() async throws {
        let reader = try await reader()
        var request = try request([("User-Agent", "Mozilla/5.0")])
        request.headerFields.append(HTTPField(name: .userAgent, value: "SomeBot/1"))
        #expect(try reader.fingerprint(of: request, from: "192.0.2.1", now: 0).verdict == .bot)
        let facts = TargetingContextReader(attributesField: "", window: 1, clients: reader)
        #expect(facts.facts(of: request, from: "192.0.2.1", viewer: nil, now: 0) == nil)
    }

    @Test(
        "a name that cannot be a viewer's is refused, and none where a link is followed",
        arguments: [String(repeating: "v", count: 257), "Jos\u{FFFD}"])
    func viewerThatIsNone(name: String) async throws {
        let reader = try await reader()
        let request = try request([("X-Viewer-ID", name)])
        #expect(throws: Problem.self) { try reader.fingerprint(of: request, from: "192.0.2.1", now: 0) }
        #expect(reader.fingerprintIgnoringErrors(of: request, from: "192.0.2.1", now: 0).viewer == nil)
        #expect(try reader.fingerprintIgnoringErrors(of: self.request([("X-Viewer-ID", "ann")]), from: "192.0.2.1", now: 0).viewer == "ann")
    }

    @Test("user agents are cut to 256 bytes, between characters of UTF-8")
    func longUserAgent() async throws {
        let reader = try await reader()
        for (agent, bytes) in [
            ("a" + String(repeating: "\u{301}", count: 7_000), 255), (String(repeating: "b", count: 300), 256), ("short", 5),
            (String(repeating: "\u{1F600}", count: 64), 256), ("x" + String(repeating: "\u{1F600}", count: 64), 253),
        ] {
            let kept = try reader.fingerprint(of: request([("User-Agent", agent)]), from: "192.0.2.1", now: 0).userAgent
            #expect(kept?.utf8.count == bytes && agent.utf8.starts(with: (kept ?? "?").utf8))
        }
    }

    @Test("where no field names viewers, there are none")
    func withoutViewers() async throws {
        let reader = try await reader(["viewers.header": ""])
        #expect(try reader.viewer(of: request([("X-Viewer-ID", "ann")])) == nil)
    }

    @Test("A share is that of the viewer who is named, else that of the address, of IPv6 that of the network")
    func parties() async throws {
        let reader = try await reader()
        let (one, other) = ("203.0.113.1", "203.0.113.2")
        let named = try request([("X-Viewer-ID", "v")])
        #expect(reader.party(of: named, from: one) == reader.party(of: named, from: other))
        #expect(try reader.party(of: named, from: one) != reader.party(of: request([("X-Viewer-ID", "w")]), from: one))
        #expect(try reader.party(of: request(), from: one) != reader.party(of: request(), from: other))
        let networks = try ["2001:db8:0:1::1", "2001:db8:0:1:ffff::2", "2001:db8:0:2::1"].map { try reader.party(of: request(), from: $0) }
        #expect(networks[0] == networks[1] && networks[0] != networks[2])
    }
}
