import Foundation
import Synchronization
import TestSupport

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

/// A folder of one test's own, removed with it.
final class Scratch: Sendable {
    let folder: String
    private let database = Mutex<PostgresItemLocation?>(nil)

    init() throws {
        folder = NSTemporaryDirectory() + "intertwine-" + UUID().uuidString
        StatementPlans.observe()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    func path(_ name: String) -> String { "\(folder)/\(name)" }

    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

    func size(_ name: String) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: path(name))[.size] as? Int ?? 0
    }

    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path(name)))
        return path(name)
    }

    /// A ledger in `ledger.sqlite`.
    ///
    /// - Parameter clock: what tells it the time; the system's where there is none.
    func ledger(_ clock: TestClock? = nil) throws -> SQLiteLedger {
        guard let clock else { return try SQLiteLedger(path: path("ledger.sqlite")) }
        return try SQLiteLedger(path: path("ledger.sqlite"), now: { clock.now })
    }

    /// What the `sqlite3` program answers: another process, and another build of SQLite's locks.
    @discardableResult
    func sqlite(_ name: String, _ sql: String) throws -> String {
        try Program(path: "/usr/bin/sqlite3", arguments: ["-cmd", ".timeout 5000", path(name), sql]).output()
    }
}

func user(_ id: String, variant: String = "regular", avatar: String = "https://example.com/a.png") throws -> ValidatedItem {
    try ItemKinds.standard.validate(Array(line(user: id, variant: variant, avatar: avatar).utf8))
}

func advertisement(_ id: String, variant: String = "image") throws -> ValidatedItem {
    let fields =
        #"{"kind":"ad","id":"\#(id)","contentUrl":"https://example.com/c.png","clickthroughUrl":"https://example.com/","type":"\#(variant)"}"#
    return try ItemKinds.standard.validate(Array(fields.utf8))
}

/// A click that counts.
func click(_ viewer: String? = nil, on cell: String = "ad:1", at moment: Int64 = 1) -> LedgerEntry {
    LedgerEntry(events: [LedgerEvent(at: moment, kind: .click, cell: cell, viewer: viewer)])
}

/// A line of an import file.
func line(user id: String, variant: String = "regular", avatar: String = "https://example.com/a.png") -> String {
    #"{"kind":"user","id":"\#(id)","username":"Name of \#(id)","avatarUrl":"\#(avatar)","type":"\#(variant)"}"#
}

/// The stores that make the same promises.
enum StoreKind: CaseIterable {
    case sqlite, postgresql

    /// So many runs on a file, and a tenth of them on a server, where each has a database of its own.
    static func seeds(_ count: Int) -> [(StoreKind, Int)] {
        (0..<count).map { (.sqlite, $0) } + stride(from: 0, to: count, by: 10).map { (.postgresql, $0) }
    }
}

extension Scratch {
    /// The store of the test: in `items.sqlite`, or in a database of its own.
    func store(_ kind: StoreKind) throws -> any ItemStore {
        try items(kind).open(reading: ReadLimits())
    }

    /// An import into that store.
    func importer(_ kind: StoreKind, kinds: ItemKinds = .standard, sections: [SectionConfiguration] = []) throws -> ItemImport {
        try items(kind).importer(
            kinds: kinds, sections: sections, policy: .stop, isCompressed: false, limit: .max, isRehearsal: false, report: { _ in })
    }

    func items(_ kind: StoreKind) throws -> any ItemLocation {
        guard kind == .postgresql else { return ItemFile(path("items.sqlite")) }
        return try database.withLock { database in
            if let database { return database }
            let made = PostgresItemLocation(try PostgresAddress(PostgresServer.shared().makeDatabase().uri), companions: path("items"))
            database = made
            return made
        }
    }
}

extension FeedStore {
    /// The ids of a whole lane, walked in pages.
    func ids(_ lane: StreamID = .content, _ direction: PageDirection = .forward, limit: Int = 3) async throws -> [String] {
        try await read { snapshot in
            var ids: [String] = []
            var position: Int64?
            while true {
                let page = try snapshot.items(in: lane, direction, of: position, limit: limit)
                guard let last = page.last else { return ids }
                ids += page.map(\.id)
                position = last.position
            }
        }
    }
}

/// Milliseconds that pass when a test says so.
final class TestClock: Sendable {
    private let moment = Mutex<Int64>(1_000_000_000_000)

    var now: Int64 { moment.withLock { $0 } }

    func advance(_ milliseconds: Int64) {
        moment.withLock { $0 += milliseconds }
    }
}
