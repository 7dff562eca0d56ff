import Foundation
import TestSupport
import Testing

@Suite("Event streams of changes from outside")
struct LiveTests {
    /// A client that reads an event stream.
    final class Listener {
        let client: RawClient
        private var text = ""

        init(_ service: RunningService, _ path: String, fields: [String] = [], receiveBuffer: Int32? = nil) throws {
            client = try RawClient(port: service.port, receiveBuffer: receiveBuffer)
            let lines = (["Accept: text/event-stream"] + fields).map { "\($0)\r\n" }.joined()
            try client.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(lines)\r\n")
        }

        /// Reads until the text contains `end`, for at most 20 seconds.
        func text(until end: String) throws -> String {
            let limit = ContinuousClock.now + .seconds(20)
            while !text.contains(end), ContinuousClock.now < limit {
                guard let bytes = try client.bytes(within: 1_000) else { break }
                text += String(decoding: bytes, as: UTF8.self)
            }
            defer { text = "" }
            return text
        }

        /// Returns the name, id and data of the next event; nil if the text has no event.
        func event() throws -> (name: String, id: String, data: JSON)? {
            let text = try text(until: "\n\n\r\n")
            func value(_ field: String) -> String? {
                text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(field): ") }.map { String($0.dropFirst(field.count + 2)) }
            }
            guard let name = value("event"), let data = value("data") else { return nil }
            return (name, value("id") ?? "", try JSON(data))
        }
    }

    private func syncToken(_ service: RunningService, _ path: String = "/feed?changes=true", fields: [String] = []) throws -> String {
        try #require(try JSON(try service.get(path, fields: fields).text)["page"]?["syncToken"]?.text)
    }

    @Test("Each client of a page receives a change, and its id resumes the stream")
    func told() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3), settings: [RunningService.tokenSetting])
            let syncToken = try syncToken(service)
            let first = try Listener(service, "/feed/changes?syncToken=\(syncToken)")
            let second = try Listener(service, "/feed/changes?syncToken=gone", fields: ["Last-Event-ID: \(syncToken)"])
            for listener in [first, second] {
                let head = try listener.text(until: "retry: ")
                #expect(head.hasPrefix("HTTP/1.1 200") && head.contains("Content-Type: text/event-stream"))
                // Without this field, nginx buffers the stream.
                #expect(head.contains("X-Accel-Buffering: no"))
                _ = try? listener.text(until: "\n\n")
            }
            _ = try service.importItems(Items.user("u9"))
            let event = try #require(try first.event())
            #expect(event.name == "changes")
            #expect(event.data["inserted"]?.list.compactMap { $0["cell"]?["id"]?.text } == ["user:u9"])
            #expect(try second.event()?.id == event.id)
            // A client with an old sync token receives the change at once, and the latest sync token has no changes.
            let late = try Listener(service, "/feed/changes?syncToken=\(syncToken)")
            _ = try late.text(until: "retry: ")
            #expect(try late.event()?.id == event.id)
            #expect(try service.get("/feed/changes?syncToken=\(event.id)").text.contains(#""inserted":[]"#))
            #expect(try service.admin("GET", "/metrics").text.contains("\nintertwine_feed_subscribers 3"))
        }
    }

    @Test("Actions of a viewer are events for that viewer alone")
    func acts() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3), settings: [RunningService.tokenSetting])
            let (ann, bob) = (["X-Viewer-ID: ann"], ["X-Viewer-ID: bob"])
            let listener = try Listener(service, "/feed/changes?syncToken=\(try syncToken(service, fields: ann))", fields: ann)
            let other = try Listener(service, "/feed/changes?syncToken=\(try syncToken(service, fields: bob))", fields: bob)
            for listener in [listener, other] { _ = try listener.text(until: "retry: ") }
            #expect(try service.ask("POST", "/cells/user:u1/dismissal", fields: ann).status == 200)
            #expect(try listener.event()?.data["removed"]?[0]?["id"]?.text == "user:u1")
            #expect(try service.ask("POST", "/cells/user:u2/selection", fields: ann).status == 200)
            let selected = try #require(try listener.event()?.data["reconfigured"]?[0]?["cell"])
            #expect(selected["state"]?["selected"] != nil)
            #expect(try service.admin("DELETE", "/admin/viewers/ann").status == 200)
            #expect(try listener.event()?.data["inserted"]?[0]?["cell"]?["id"]?.text == "user:u1")
            let rest = try other.client.bytes(within: 500)
            #expect(rest.map { String(decoding: $0, as: UTF8.self).contains("event:") } == false)
        }
    }

    @Test("An invalid sync token returns a reload event and ends the stream")
    func reload() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3))
            let listener = try Listener(service, "/feed/changes?syncToken=AAAA")
            let text = try listener.text(until: "0\r\n\r\n")
            #expect(text.contains("event: reload\ndata: {\"reload\":true}\n\n"))
            #expect(try listener.client.isClosedByServer())
            #expect(try service.get("/feed/changes", fields: ["Accept: text/event-stream"]).status == 400)
            // Streams do not end, so a client must accept event streams at least as much as JSON.
            for accept in ["application/json, text/event-stream;q=0.1", "text/event-stream;q=0, */*", "*/*"] {
                let answer = try service.get("/feed/changes?syncToken=\(try syncToken(service))", fields: ["Accept: \(accept)"])
                #expect(answer["content-type"] == "application/json", "\(accept)")
            }
            // An empty Last-Event-ID means that no event has arrived.
            let fresh = try Listener(service, "/feed/changes?syncToken=\(try syncToken(service))", fields: ["Last-Event-ID:"])
            #expect(try fresh.text(until: "retry: ").hasPrefix("HTTP/1.1 200"))
        }
    }

    @Test("Streams beyond the limit return 503, polling works, and closed streams free capacity")
    func bounded() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3), settings: ["limits.event-streams=2"])
            let path = "/feed/changes?syncToken=\(try syncToken(service))"
            let listeners = try (0..<2).map { _ in try Listener(service, path) }
            for listener in listeners { _ = try listener.text(until: "retry: ") }
            let refused = try service.get(path, fields: ["Accept: text/event-stream"])
            #expect(refused.status == 503 && refused["retry-after"] != nil)
            #expect(try service.get(path).status == 200)
            listeners[0].client.reset()
            let limit = ContinuousClock.now + .seconds(20)
            var isIn = false
            while !isIn, ContinuousClock.now < limit {
                isIn = try Listener(service, path).text(until: "\r\n\r\n").hasPrefix("HTTP/1.1 200")
            }
            #expect(isIn)
        }
    }

    @Test("A gzip event stream flushes each event, and a stop completes the coding", arguments: [0, 1])
    func coded(minor: Int) async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3))
            let path = "/feed/changes?syncToken=\(try syncToken(service))"
            let plain = try Listener(service, path)
            #expect(try plain.text(until: "retry: ").contains("Vary: "))
            let client = try RawClient(port: service.port)
            let fields = "Host: localhost\r\nAccept: text/event-stream\r\nAccept-Encoding: gzip\r\n"
            try client.send("GET \(path) HTTP/1.\(minor)\r\n\(fields)\r\n")
            var received: [UInt8] = []
            func read(until isSo: (String) -> Bool) throws -> String {
                let limit = ContinuousClock.now + .seconds(20)
                while ContinuousClock.now < limit {
                    if let text = Self.decoded(received, isChunked: minor == 1), isSo(text) { return text }
                    guard let bytes = try client.bytes(within: 1_000) else { break }
                    received += bytes
                }
                return Self.decoded(received, isChunked: minor == 1) ?? ""
            }
            #expect(try read { $0.hasPrefix("retry: ") }.hasSuffix("\n\n"))
            let head = String(decoding: received, as: UTF8.self)
            #expect(head.contains("Content-Encoding: gzip\r\n") && head.contains("Accept-Encoding"))
            for name in ["u8", "u9"] {
                _ = try service.importItems(Items.user(name))
                #expect(try read { $0.contains("user:\(name)") }.contains("event: changes\n"), "\(name)")
            }
            let event = try #require(try plain.event())
            #expect(event.name == "changes")
            service.process.signal(SIGTERM)
            while let bytes = try client.bytes(within: 20_000) { received += bytes }
            #expect(service.process.wait() == 0)
            // The coding is complete: its checksum and length at the end are correct.
            let body = try #require(Self.body(received, isChunked: minor == 1))
            #expect(String(decoding: gunzipped(body), as: UTF8.self).contains("user:u9"))
        }
    }

    /// Returns the decoded part of a gzip body so far; nil if there is no body.
    private static func decoded(_ bytes: [UInt8], isChunked: Bool) -> String? {
        body(bytes, isChunked: isChunked).map { String(decoding: gunzipped($0, isWhole: false), as: UTF8.self) }
    }

    /// Returns the received part of a response body; nil before the head is complete.
    private static func body(_ bytes: [UInt8], isChunked: Bool) -> [UInt8]? {
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound else { return nil }
        guard isChunked else { return Array(bytes[end...]) }
        var (body, rest): ([UInt8], ArraySlice<UInt8>) = ([], bytes[end...])
        while let line = rest.firstRange(of: [13, 10]),
            let size = Int(String(decoding: rest[..<line.lowerBound], as: UTF8.self), radix: 16), rest.count >= size + 2
        {
            body += rest[line.upperBound...].prefix(size)
            rest = rest[line.upperBound...].dropFirst(size + 2)
        }
        return body
    }

    @Test("A stop of the service ends event streams with the last chunk")
    func stop() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3))
            let listener = try Listener(service, "/feed/changes?syncToken=\(try syncToken(service))")
            _ = try listener.text(until: "retry: ")
            service.process.signal(SIGTERM)
            #expect(try listener.text(until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
            #expect(service.process.wait() == 0)
        }
    }
}
