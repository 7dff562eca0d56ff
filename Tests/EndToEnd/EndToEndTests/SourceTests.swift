import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("Remote sources from outside", .timeLimit(.untilStuck))
struct SourceTests {
    /// An origin with a list of users. The name of each user is the version of the list.
    private final class Api: Sendable {
        private final class Box: Sendable {
            let version = Atomic<Int>(1)
            let fails = Atomic<Bool>(false)
        }

        private let box = Box()
        let origin: Origin
        static let count = 60

        init() throws {
            let box = box
            origin = try Origin { request, connection in
                guard !box.fails.load(ordering: .relaxed) else { return connection.answer(500) }
                let version = box.version.load(ordering: .relaxed)
                let users = (0..<Self.count).map { number in
                    #"{"key":"\#(number < 40 ? "s" : "v\(version)-")\#(number)","profile":{"name":"v\#(version)"},"#
                        + #""face":"https://example.com/\#(number).png"}"#
                }
                guard request.headers["if-none-match"] != "\"\(version)\"" else {
                    connection.send("HTTP/1.1 304 Not Modified\r\n\r\n")
                    return
                }
                connection.answer(200, ["ETag: \"\(version)\""], body: Array("{\"people\":[\(users.joined(separator: ","))]}".utf8))
            }
        }

        func publish() { box.version.add(1, ordering: .relaxed) }
        func setFailing(_ fails: Bool) { box.fails.store(fails, ordering: .relaxed) }

        /// Writes the sources file, and returns the settings that name it.
        func settings(in folder: String, every: String, url: String? = nil) throws -> [String] {
            let file = "\(folder)/sources.yaml"
            try """
            sources:
              people:
                url: \(url ?? origin.url("/people?key=hidden"))
                kind: user
                every: \(every)
                items: /people
                fields: {id: key, username: /profile/name, avatarUrl: face, type: {value: regular}}
                headers: {X-Key: {file: \(folder)/key}}
            """.write(toFile: file, atomically: true, encoding: .utf8)
            try "very-secret\n".write(toFile: "\(folder)/key", atomically: true, encoding: .utf8)
            return ["sources.file=\(file)", "sources.allowed-networks=127.0.0.1/32", "sources.allowed-ports=\(origin.port)"]
        }
    }

    private static func folder() throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-sources-\(UUID())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// Returns the versions in the user names of the page.
    private static func versions(_ service: RunningService) throws -> Set<String> {
        let page = try JSON(try service.get("/feed?limit=100").text)["cells"]
        let cells = page?.list.filter { $0["id"]?.text?.hasPrefix("user:") == true } ?? []
        #expect(cells.isEmpty || cells.count == Api.count)
        return Set(cells.compactMap { $0["actions"]?["configuration"]?["bindings"]?["username"]?["text"]?.text })
    }

    private static func state(_ service: RunningService) throws -> JSON {
        let answer = try service.admin("GET", "/admin/sources")
        #expect(answer.status == 200)
        return try #require(try JSON(answer.text)["sources"]?[0])
    }

    /// Polls the source state until the condition is met.
    private static func wait(_ service: RunningService, until isMet: (JSON) throws -> Bool) throws -> JSON {
        for _ in 0..<2_000 {
            let state = try state(service)
            if try isMet(state) { return state }
            usleep(20_000)
        }
        Issue.record("the source never came so far: \(try state(service).value)")
        return try state(service)
    }

    @Test("The service polls a source, reports its state, and serves old items during failures")
    func polling() async throws {
        try await offPool {
            let folder = try Self.folder()
            let api = try Api()
            defer { api.origin.stop() }
            let service = try RunningService(settings: [RunningService.tokenSetting] + api.settings(in: folder, every: "1s"))
            let first = try Self.wait(service) { $0["items"]?.number == Api.count }
            #expect(first["lastChange"]?["added"]?.number == Api.count && first["kind"]?.text == "user")
            #expect(first["url"]?.text == api.origin.url("/people?…") && first["lastError"] == nil)
            #expect(try Self.versions(service) == ["v1"])
            #expect(api.origin.requests.allSatisfy { $0.headers["x-key"] == "very-secret" })

            api.publish()
            _ = try Self.wait(service) { $0["lastChange"]?["changed"]?.number == 40 }
            #expect(try Self.versions(service) == ["v2"])
            // Without changes in the source, the page does not change.
            let tag = try #require(try service.get("/feed")["etag"])
            let asked = api.origin.requests.count
            while api.origin.requests.count < asked + 2 { usleep(20_000) }
            #expect(try service.get("/feed", fields: ["User-Agent: tests", "If-None-Match: \(tag)"]).status == 304)

            api.setFailing(true)
            let failing = try Self.wait(service) { ($0["failures"]?.number ?? 0) >= 2 }
            #expect(failing["lastError"]?.text == "page 1: the origin returned 500")
            #expect(failing["state"]?.text == "failing" || failing["state"]?.text == "running")
            #expect(failing["items"]?.number == Api.count && failing["lastSuccess"]?.text != nil)
            #expect(try Self.versions(service) == ["v2"])
            #expect(try service.get("/readyz").status == 200)
            let samples = try PrometheusParser.samples(in: try service.admin("GET", "/metrics").text).filter {
                $0.labels["source"] == "people"
            }
            #expect(samples.contains { $0.name == "intertwine_source_attempts_total" && $0.labels["result"] == "status" && $0.value >= 2 })
            #expect(samples.contains { $0.name == "intertwine_source_items" && $0.value == Double(Api.count) })
            #expect(samples.contains { $0.name == "intertwine_source_lag_seconds" && $0.value > 0 })
            #expect(samples.contains { $0.name == "intertwine_source_consecutive_failures" && $0.value >= 2 })

            api.setFailing(false)
            api.publish()
            #expect(try service.admin("POST", "/admin/sources/people/sync").status == 202)
            #expect(try service.admin("POST", "/admin/sources/nobody/sync").status == 404)
            _ = try Self.wait(service) { $0["failures"]?.number == 0 }
            #expect(try Self.versions(service) == ["v3"])
        }
    }

    @Test("A sync restores changed items and withholds removed items; its state survives a restart")
    func restores() async throws {
        try await offPool {
            let folder = try Self.folder()
            let api = try Api()
            defer { api.origin.stop() }
            let service = try RunningService(settings: [RunningService.tokenSetting] + api.settings(in: folder, every: "1h"))
            let first = try Self.wait(service) { $0["items"]?.number == Api.count && $0["state"]?.text == "waiting" }
            let user = Items.user("s3").trimmingCharacters(in: .newlines)
            #expect(
                try service.admin("POST", "/admin/operations", body: #"{"operations":[{"update":\#(user)},{"remove":"user:s4"}]}"#).status
                    == 200)
            #expect(try service.admin("POST", "/admin/sources/people/sync").status == 202)
            let second = try Self.wait(service) { $0["lastChange"]?["changed"]?.number == 1 && $0["state"]?.text == "waiting" }
            #expect(second["lastChange"]?["added"]?.number == 0)
            #expect(second["withheld"]?.number == 1 && second["withheldItems"]?[0]?.text == "user:s4")
            #expect(try service.admin("GET", "/admin/items/user/s4").status == 404)
            let removed = Items.user("s4").trimmingCharacters(in: .newlines)
            #expect(
                try service.admin("POST", "/admin/operations", body: #"{"operations":[{"append":\#(removed)},{"update":\#(user)}]}"#).status
                    == 200)
            let options = ["--config", service.configurationFile, "--database", service.database]
            let settings = try api.settings(in: folder, every: "1h").flatMap { ["--set", $0] }
            let result = try Command.run(["sync"] + options + settings + ["people"])
            #expect(result.lines.last?.hasSuffix(": added 0, changed 2, removed 0, unchanged 58, skipped 0") == true, "\(result.lines)")
            #expect(try Self.versions(service) == ["v1"])

            api.setFailing(true)
            try service.killAndRestart()
            let failing = try Self.wait(service) { ($0["failures"]?.number ?? 0) >= 1 }
            #expect(failing["items"]?.number == Api.count && failing["lastSuccess"]?.text != nil)
            #expect((failing["lastSuccess"]?.text ?? "") >= (first["lastSuccess"]?.text ?? "9"))
        }
    }

    @Test("The sync command runs beside the service, and each page has one source version")
    func command() async throws {
        try await offPool {
            let folder = try Self.folder()
            let api = try Api()
            defer { api.origin.stop() }
            let service = try RunningService()
            let settings = try api.settings(in: folder, every: "1h")
            let options = ["--config", service.configurationFile, "--database", service.database] + settings.flatMap { ["--set", $0] }
            let first = try Command.run(["sync"] + options + ["people"])
            #expect(
                first.code == 0 && first.lines.last?.hasSuffix(": added 60, changed 0, removed 0, unchanged 0, skipped 0") == true,
                "\(first.lines)")
            #expect(try Self.versions(service) == ["v1"])
            let isOver = Gate()
            let reader = ReaderThread(service.port, isOver)
            for version in 2...6 {
                api.publish()
                let result = try Command.run(["sync"] + options + ["people"])
                #expect(
                    result.lines.last?.hasSuffix(": added 20, changed 40, removed 20, unchanged 0, skipped 0") == true, "\(result.lines)")
                #expect(try Self.versions(service) == ["v\(version)"])
            }
            isOver.open()
            let seen = try reader.finish()
            #expect(seen.pages > 10 && seen.mixed == [])

            api.setFailing(true)
            let failed = try Command.run(["sync"] + options + ["people"])
            #expect(failed.code != 0)
            #expect(failed.lines.last == "Error: people: page 1: the origin returned 500; nothing was changed", "\(failed.lines)")
            let unknown = try Command.run(["sync"] + options + ["nobody"])
            #expect(
                unknown.code != 0 && unknown.lines.last?.contains("nobody: no such source; \(folder)/sources.yaml declares people") == true)
            let checked = try Command.run(["check-config"] + options)
            #expect(checked.lines.contains("sources.people.headers.x-key=(secret)  # \(folder)/sources.yaml"))
            #expect(!checked.lines.contains { $0.contains("very-secret") || $0.contains("key=hidden") })
        }
    }

    @Test("The sync command creates a folder named data")
    func newStore() async throws {
        try await offPool {
            let folder = try Self.folder()
            let api = try Api()
            defer { api.origin.stop() }
            let settings = try api.settings(in: folder, every: "1h")
            let result = try Command.run(
                ["sync", "--database", "\(folder)/data/items.sqlite"] + settings.flatMap { ["--set", $0] } + ["people"])
            #expect(result.code == 0 && result.lines.last?.contains(": added 60,") == true, "\(result.lines)")
        }
    }

    @Test("An error in the sources file stops the start with its line")
    func fault() async throws {
        try await offPool {
            let folder = try Self.folder()
            let api = try Api()
            defer { api.origin.stop() }
            let settings = try api.settings(in: folder, every: "often")
            try "".write(toFile: "\(folder)/key", atomically: true, encoding: .utf8)
            for command in ["serve", "check-config"] {
                let result = try Command.run(
                    [command, "--config", "\(folder)/key", "--database", "\(folder)/i.sqlite"] + settings.flatMap { ["--set", $0] })
                #expect(result.code != 0)
                #expect(result.lines.contains { $0.contains("\(folder)/sources.yaml:5:5: 'often' is not allowed") }, "\(result.lines)")
            }
        }
    }
}

/// A thread that requests pages in a loop, and records pages with more than one version.
private final class ReaderThread: Sendable {
    private struct Seen {
        var pages = 0
        var mixed: [String] = []
        var failure: String?
    }

    private let seen = Mutex(Seen())
    private let isDone = Gate()
    private let isOver = Atomic(false)

    init(_ port: UInt16, _ over: Gate) {
        Thread.detachNewThread { [self] in
            over.wait()
            isOver.store(true, ordering: .relaxed)
        }
        Thread.detachNewThread { [self] in
            defer { isDone.open() }
            do {
                while !isOver.load(ordering: .relaxed) {
                    let client = try RawClient(port: port)
                    let page = try RunningService.ask(client, "GET", "/feed?limit=100", fields: ["User-Agent: t", "Connection: close"])
                    let names = try JSON(page.text)["cells"]?.list.compactMap {
                        $0["actions"]?["configuration"]?["bindings"]?["username"]?["text"]?.text
                    }
                    let versions = Set(names ?? [])
                    seen.withLock { seen in
                        seen.pages += 1
                        if versions.count != 1 || names?.count != 60 { seen.mixed.append("\(versions.sorted()) \(names?.count ?? -1)") }
                    }
                }
            } catch {
                seen.withLock { $0.failure = "\(error)" }
            }
        }
    }

    func finish() throws -> (pages: Int, mixed: [String]) {
        isDone.wait()
        return seen.withLock { ($0.pages, $0.mixed + ($0.failure.map { [$0] } ?? [])) }
    }
}
