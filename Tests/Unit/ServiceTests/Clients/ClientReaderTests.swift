import Foundation
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import IntertwineFeed
@testable import IntertwineHTTPServer
@testable import IntertwineService

@Suite("Client data for the ledger")
struct ClientReaderTests {
    private static let day: Int64 = 86_400_000

    private struct RecordingHandler: LogHandler {
        let record: @Sendable (String) -> Void
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { record("\(event.message) \(event.metadata ?? [:])") }
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func append(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test("An address has the forms of all days and keys, and none if it is not stored")
    func storedForms() {
        let (old, new) = (SigningKey.random(), SigningKey.random())
        func forms(_ mode: EventSettings.Address, _ keys: SigningKeys) -> [String]? {
            try? AddressPrivacy(mode: mode, keys: keys).storedForms(of: "192.0.2.1", in: Self.day..<3 * Self.day)
        }
        let before = forms(.hashed, SigningKeys(current: old)) ?? []
        let after = forms(.hashed, SigningKeys(current: new, previous: old)) ?? []
        #expect(before.count == 3 && after.count == 6 && Set(after).isSuperset(of: before))
        #expect(forms(.truncated, SigningKeys(current: new)) == ["192.0.2.0/24"] && forms(.none, SigningKeys(current: new)) == nil)
        let stored = AddressPrivacy(mode: .hashed, keys: SigningKeys(current: new))
        for form in before + ["192.0.2.0/24", "2001:db8::/48"] {
            #expect((try? stored.storedForms(of: form, in: 0..<1)) == [form])
        }
        for text in [
            "192.0.2.0/23", "192.0.2.1/24", "0.0.0.0/0", "2001:db8::/32", "2001:db8::1/48", "192.0.2.256", "192.0.2.1 ", "localhost", "999",
            before[0].uppercased(), String(before[0].dropFirst()), "/24",
        ] {
            #expect(throws: AddressPrivacy.UnusableAddress.malformed, "\(text)") { try stored.storedForms(of: text, in: 0..<1) }
        }
    }

    private func reader(
        _ settings: [String: String] = [:], logger: Logger = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
    ) async throws -> ClientReader {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID()).yaml").path
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        let configuration = try ServiceConfiguration(try SettingSources(flags: settings, environment: [:], file: file))
        let key = try SigningKey(Array(repeating: 7, count: 32))
        return ClientReader(
            settings: configuration.events,
            viewers: ViewerReader(
                configuration.viewers, proxies: configuration.server.proxies, tokens: nil, rejections: WriteLimiter(address: 1, viewer: 1)),
            proxies: configuration.server.proxies, forwardingWarning: ForwardingWarning(logger: logger), keys: SigningKeys(current: key))
    }

    private func request(_ fields: [(String, String)] = []) throws -> HTTPRequest {
        var request = HTTPRequest(method: .get, scheme: "http", authority: "test", path: "/")
        request.headerFields[.userAgent] = "tests"
        for (name, value) in fields { request.headerFields[try #require(HTTPField.Name(name))] = value }
        return request
    }

    @Test(
        "Any purpose field with a prefetch value gives the verdict prefetch",
        arguments: [
            ([("Sec-Purpose", "prefetch")], Verdict.prefetch), ([("Sec-Purpose", "x"), ("Purpose", "prefetch")], .prefetch),
            ([("Sec-Purpose", ""), ("X-Moz", "prefetch")], .prefetch), ([("Purpose", "prerender")], .prefetch),
            ([("Sec-Purpose", "x"), ("Purpose", "y")], .counted),
        ] as [([(String, String)], Verdict)])
    func purposes(fields: [(String, String)], verdict: Verdict) async throws {
        #expect(try await reader().fingerprint(of: request(fields), from: "192.0.2.1", now: 0).verdict == verdict)
    }

    @Test("Two viewer fields cause an error; a followed link then has no viewer")
    func repeatedViewer() async throws {
        let reader = try await reader()
        var request = try request([("X-Viewer-ID", "alice")])
        #expect(try await reader.viewer(of: request, from: "127.0.0.1") == "alice")
        request.headerFields.append(HTTPField(name: try #require(HTTPField.Name("X-Viewer-ID")), value: "bob"))
        await #expect(throws: Problem.self) { try await reader.viewer(of: request, from: "127.0.0.1") }
        await #expect(throws: Problem.self) { try await reader.fingerprint(of: request, from: "127.0.0.1", now: 0) }
        #expect(reader.fingerprintIgnoringErrors(of: request, from: "127.0.0.1", now: 0).viewer == nil)
    }

    @Test(
        "The address hash covers the IPv4 address or IPv6 network in each storage mode",
        arguments: [("truncated", "203.0.113.0/24"), ("none", nil), ("hashed", "hash")] as [(String, String?)])
    func addresses(mode: String, kept: String?) async throws {
        let reader = try await reader(["events.address": mode])
        func trace(_ address: String, now: Int64 = 0) async throws -> ClientFingerprint {
            try await reader.fingerprint(of: request([("X-Forwarded-For", "198.51.100.9, \(address)")]), from: "127.0.0.1", now: now)
        }
        let first = try await trace("203.0.113.1")
        let hash = try #require(first.addressHash)
        #expect(first.address == (kept == "hash" ? hash : kept))
        #expect(!hash.contains("203"))
        #expect(try await trace("203.0.113.1").addressHash == hash)
        #expect(try await trace("203.0.113.2").addressHash != hash)
        #expect(try await trace("::ffff:203.0.113.1").addressHash == hash)
        // One client may use all addresses of an IPv6 network.
        let network = try await trace("2001:db8:0:1::1").addressHash
        #expect(network != nil)
        #expect(try await trace("2001:db8:0:1:ffff:ffff::9").addressHash == network)
        #expect(try await trace("2001:db8:0:2::1").addressHash != network)
        // Clicks also have rates of larger networks: 56 and 48 bits.
        let networks = try await trace("2001:db8:0:1::1").networkHashes
        #expect(first.networkHashes.isEmpty && Set(networks).count == 2)
        #expect(try await trace("2001:db8:0:ff::1").networkHashes == networks)
        #expect(try await trace("2001:db8:0:100::1").networkHashes.last == networks.last)
        #expect(try await trace("2001:db8:0:100::1").networkHashes.first != networks.first)
        #expect(try await trace("2001:db8:1::1").networkHashes.last != networks.last)
        #expect(try await trace("203.0.113.1", now: Self.day - 1).addressHash == hash)
        #expect(try await trace("203.0.113.1", now: Self.day).addressHash != hash)
        #expect(try await trace("nonsense").addressHash == reader.fingerprint(of: request(), from: "127.0.0.1", now: 0).addressHash)
        // More addresses than the cache holds.
        for number in 0..<5_000 { _ = try await trace("10.0.\(number / 256).\(number % 256)") }
        #expect(try await trace("203.0.113.1").addressHash == hash)
    }

    @Test("A fingerprint also contains yesterday's hash of the address")
    func yesterday() async throws {
        let reader = try await reader()
        func trace(_ now: Int64) async throws -> ClientFingerprint {
            try await reader.fingerprint(of: request(), from: "203.0.113.1", now: now)
        }
        let (before, after) = (try await trace(5 * Self.day - 1), try await trace(5 * Self.day))
        #expect(before.addressHash != nil && after.yesterdaysAddressHashes == [before.addressHash])
        #expect(after.addressHash != before.addressHash && after.yesterdaysAddressHashes != before.yesterdaysAddressHashes)
    }

    @Test(
        "A forwarded address may have a port; an invalid one gives the peer's address",
        arguments: [
            ("198.51.100.9:1234", "198.51.100.9"), ("[2001:db8::1]:443", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"),
            ("2001:db8::1", "2001:db8::1"), ("unknown", "192.0.2.1"), ("", "192.0.2.1"), ("_hidden:80", "192.0.2.1"), ("[", "192.0.2.1"),
            ("1.2.3.4, 198.51.100.9 ", "198.51.100.9"), ("1.2.3.4,", "1.2.3.4"), ("::ffff:198.51.100.9", "198.51.100.9"),
            ("198.51.100.9, 192.0.2.7", "198.51.100.9"),
        ])
    func forwarded(field: String, address: String) async throws {
        let reader = try await reader(["server.trusted-proxies": "192.0.2.0/24"])
        #expect(try reader.address(of: request([("X-Forwarded-For", field)]), from: "192.0.2.1") == address)
    }

    @Test(
        "A request with DNT or Sec-GPC leaves no trace, even with a repeated value",
        arguments: [
            ("DNT", "1", false), ("DNT", "1, 1", false), ("Sec-GPC", "0 ,1", false), ("DNT", "0", true), ("DNT", "11", true),
            ("DNT", "01x", true), ("Sec-GPC", "?1", true), ("DNT", "", true),
        ])
    func noTrace(name: String, value: String, leavesTrace: Bool) async throws {
        let (reader, request) = (try await reader(), try request([(name, value)]))
        #expect(try await reader.fingerprint(of: request, from: "192.0.2.1", now: 0).isTracked == leavesTrace)
        // Campaigns use the same rule.
        let context = reader.targeting(of: request, from: "192.0.2.1", as: RequestIdentity(viewer: "ann"), now: 0)
        #expect(context?.viewer == (leavesTrace ? "ann" : nil))
    }

    @Test("A bot name in a second User-Agent field marks the request as a bot's")
    func repeatedUserAgent() async throws {
        let reader = try await reader()
        var request = try request([("User-Agent", "Mozilla/5.0")])
        request.headerFields.append(HTTPField(name: .userAgent, value: "SomeBot/1"))
        #expect(try await reader.fingerprint(of: request, from: "192.0.2.1", now: 0).verdict == .bot)
        #expect(reader.targeting(of: request, from: "192.0.2.1", as: RequestIdentity(), now: 0) == nil)
    }

    @Test(
        "An invalid viewer name is refused; a followed link then has no viewer",
        arguments: [String(repeating: "v", count: 257), "Jos\u{FFFD}"])
    func viewerThatIsNone(name: String) async throws {
        let reader = try await reader()
        let request = try request([("X-Viewer-ID", name)])
        await #expect(throws: Problem.self) { try await reader.fingerprint(of: request, from: "127.0.0.1", now: 0) }
        #expect(reader.fingerprintIgnoringErrors(of: request, from: "127.0.0.1", now: 0).viewer == nil)
        #expect(try reader.fingerprintIgnoringErrors(of: self.request([("X-Viewer-ID", "ann")]), from: "127.0.0.1", now: 0).viewer == "ann")
    }

    @Test("A user agent is cut to at most 256 bytes at a UTF-8 character boundary")
    func longUserAgent() async throws {
        let reader = try await reader()
        for (agent, bytes) in [
            ("a" + String(repeating: "\u{301}", count: 7_000), 255), (String(repeating: "b", count: 300), 256), ("short", 5),
            (String(repeating: "\u{1F600}", count: 64), 256), ("x" + String(repeating: "\u{1F600}", count: 64), 253),
        ] {
            let kept = try await reader.fingerprint(of: request([("User-Agent", agent)]), from: "192.0.2.1", now: 0).userAgent
            #expect(kept?.utf8.count == bytes && agent.utf8.starts(with: (kept ?? "?").utf8))
        }
    }

    @Test("A viewer's name is accepted from trusted proxies only", arguments: ["ann", "\u{FFFD}", String(repeating: "v", count: 257)])
    func untrustedViewer(name: String) async throws {
        let reader = try await reader(["server.trusted-proxies": "10.0.0.0/8"])
        let request = try request([("X-Viewer-ID", name)])
        for peer in ["192.0.2.1", "127.0.0.1", "::1", "2001:db8::1"] {
            let problem = await #expect(throws: Problem.self) { try await reader.viewer(of: request, from: peer) }
            #expect(problem?.status == .forbidden && problem?.kind == .untrustedViewer)
            #expect(problem?.detail == "X-Viewer-ID is accepted from the networks in server.trusted-proxies only.")
            await #expect(throws: Problem.self) { try await reader.fingerprint(of: request, from: peer, now: 0) }
            #expect(reader.fingerprintIgnoringErrors(of: request, from: peer, now: 0).viewer == nil)
        }
        // The empty value names no viewer.
        #expect(try await reader.viewer(of: self.request([("X-Viewer-ID", "")]), from: "192.0.2.1") == nil)
        #expect(try await reader.viewer(of: self.request([("X-Viewer-ID", "ann")]), from: "10.1.2.3") == "ann")
    }

    @Test("A peer that is no trusted proxy forwards no address, and the first such request is logged")
    func untrustedForwarding() async throws {
        let log = Lines()
        let reader = try await reader(logger: Logger(label: "tests") { _ in RecordingHandler(record: log.append) })
        let forwarded = try request([("X-Forwarded-For", "198.51.100.9")])
        #expect(try reader.address(of: request(), from: "192.0.2.1") == "192.0.2.1")
        #expect(reader.address(of: forwarded, from: "127.0.0.1") == "198.51.100.9")
        #expect(log.all.isEmpty)
        for peer in ["192.0.2.1", "203.0.113.1"] { #expect(reader.address(of: forwarded, from: peer) == peer) }
        #expect(log.all.count == 1 && log.all.first?.contains("server.trusted-proxies") == true)
        #expect(log.all.first?.contains("192.0.2.0/24") == true)
    }

    @Test("Without a viewer field, a request has no viewer")
    func withoutViewers() async throws {
        let reader = try await reader(["viewers.header": ""])
        #expect(try await reader.viewer(of: request([("X-Viewer-ID", "ann")]), from: "192.0.2.1") == nil)
    }
}

extension ClientReader {
    fileprivate func viewer(of request: HTTPRequest, from peer: String) async throws(Problem) -> String? {
        try await identity(of: request, from: peer, now: 0).viewer
    }
}
