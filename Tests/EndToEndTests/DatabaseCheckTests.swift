import Foundation
import TestSupport
import Testing

@Suite("The background check of database files", .timeLimit(.untilStuck))
struct DatabaseCheckTests {
    /// A database file by its name in metrics.
    private enum Part: String, CaseIterable {
        case items, ledger

        var file: String { self == .items ? "intertwine.sqlite" : "intertwine.ledger.sqlite" }
    }

    /// The folder of a store, removed with it.
    private final class Folder: Sendable {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path

        init() throws {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            try "".write(toFile: "\(path)/empty.yaml", atomically: true, encoding: .utf8)
        }

        init(copyOf other: Folder) throws { try FileManager.default.copyItem(atPath: other.path, toPath: path) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        func pages(_ part: Part) -> DatabasePages { DatabasePages("\(path)/\(part.file)") }

        func serve() throws -> RunningService { try RunningService(in: path, settings: [RunningService.tokenSetting]) }
    }

    private static func sample(_ name: String, _ part: Part, _ service: RunningService) throws -> Double? {
        let lines = try service.admin("GET", "/metrics").text.split(separator: "\n")
        return lines.first { $0.hasPrefix("\(name){file=\"\(part)\"} ") }?.split(separator: " ").last.flatMap { Double($0) }
    }

    /// Makes a store with rows in each table of both files, which have been checked once and have digests.
    private static func filled() throws -> Folder {
        let folder = try Folder()
        _ = try RunningService.importItems(
            Items.users(300) + Items.advertisements(60), into: "\(folder.path)/\(Part.items.file)", folder: folder.path)
        try folder.serve().stop()
        try folder.pages(.items).fill(except: ["item"])
        try folder.pages(.ledger).fill(except: ["event_digest"])
        try folder.pages(.ledger).sqlite("INSERT OR IGNORE INTO event_marker (only, last) VALUES (1, 17)")
        let service = try folder.serve()
        var shares: [Part: [Double]] = [:]
        while try Part.allCases.contains(where: { try sample("intertwine_store_checks_total", $0, service) == 0 }) {
            for part in Part.allCases {
                guard let share = try sample("intertwine_store_check_progress_ratio", part, service) else { continue }
                shares[part, default: []].append(share)
            }
        }
        for part in Part.allCases {
            #expect(shares[part]?.contains { $0 > 0 && $0 < 1 } == true, "the progress of the \(part) was \(shares[part] ?? [])")
            #expect(try sample("intertwine_store_corrupt", part, service) == 0)
        }
        service.stop()
        return folder
    }

    /// Tables whose rows each start writes. They are damaged while the service runs.
    private static let rewritten: Set<String> = ["section_kind", "event_marker", "passed_time"]

    /// Flips a bit of an object in a copy of a store, and expects that a service of the copy detects it.
    ///
    /// - Returns: false if the service did not start.
    private static func detects(_ object: String, _ part: Part, of store: Folder) throws -> Bool {
        let folder = try Folder(copyOf: store)
        let pages = folder.pages(part)
        if !rewritten.contains(object) { try pages.flip(in: object) }
        guard let service = try? folder.serve() else { return false }
        if rewritten.contains(object) {
            // Sections that are not configured are removed by the start.
            if object == "section_kind" { try pages.sqlite("INSERT INTO section_kind (kind, section) VALUES ('a', 1), ('b', 2), ('c', 3)") }
            // The next complete check has written the digests.
            let checks = try #require(try sample("intertwine_store_checks_total", part, service))
            while try #require(try sample("intertwine_store_checks_total", part, service)) < checks + 2 { usleep(50_000) }
            try pages.sqlite("PRAGMA wal_checkpoint(FULL)")
            try pages.flip(in: object)
        }
        let end = ContinuousClock.now + .seconds(30)
        while try service.get("/readyz").status == 200, .now < end { usleep(50_000) }
        #expect(try service.get("/readyz").status == 503, "\(object) of the \(part)")
        #expect(try sample("intertwine_store_corrupt", part, service) == 1, "\(object) of the \(part)")
        switch part {
        case .items:
            let user = #"{"username":"A","avatarUrl":"https://pictures.example.com/a.png","type":"regular"}"#
            #expect(try service.admin("PUT", "/admin/items/user/new", body: user).status == 503, "\(object)")
        case .ledger:
            let page = try JSON(try service.get("/feed?limit=5").text)
            let advertisement = page["cells"]?.list.first { $0["id"]?.text?.hasPrefix("ad:") == true }
            let click = try #require(advertisement?["actions"]?["selection"]?["href"]?.text)
            #expect(try service.get(click).status == 503, "\(object)")
            let fields = ["User-Agent: tests", "X-Viewer-ID: v"]
            #expect(try service.ask("POST", "/cells/user:u1/dismissal", fields: fields).status == 503, "\(object)")
        }
        return true
    }

    @Test("A flipped bit in a row of any table, or in an entry of any index, is detected, and writes are rejected")
    func everyTableAndIndex() async throws {
        let store = try await offPool { try Self.filled() }
        var objects: [(Part, String)] = []
        for part in Part.allCases { objects += try await offPool { try store.pages(part).objects().map { (part, $0) } } }
        #expect(objects.count > 60)
        var refused: Set<String> = []
        try await withThrowingTaskGroup(of: (String, Bool).self) { group in
            for (number, (part, object)) in objects.enumerated() {
                // Four services at a time.
                if number >= 4, let (object, isStarted) = try await group.next(), !isStarted { refused.insert(object) }
                group.addTask { try await offPool { (object, try Self.detects(object, part, of: store)) } }
            }
            for try await (object, isStarted) in group where !isStarted { refused.insert(object) }
        }
        // A start reads this table, and is refused.
        #expect(refused.isSubset(of: ["store_identity"]), "\(refused)")
    }
}
