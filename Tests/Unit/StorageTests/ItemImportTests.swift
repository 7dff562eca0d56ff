import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineStorage

@Suite("Import")
struct ItemImportTests {
    let scratch: Scratch
    let path: String

    init() throws {
        scratch = try Scratch()
        path = scratch.path("items.sqlite")
    }

    /// Imports texts as files, and returns what was done and reported.
    private func run(_ texts: String..., policy: BadItemPolicy = .stop) throws -> (ImportSummary, [InvalidItem]) {
        var reports: [InvalidItem] = []
        let session = try ItemImport(into: path, policy: policy) { reports.append($0) }
        for text in texts {
            let file = try #require(FileHandle(forReadingAtPath: scratch.write(text, to: "file")))
            try session.add(contentsOf: file.fileDescriptor)
        }
        return (try session.commit(), reports)
    }

    @Test("An import adds items and replaces known items in place, also within one file")
    func addsAndReplaces() async throws {
        let ad = #"{"kind":"ad","id":1,"contentUrl":"http://a/","clickthroughUrl":"http://b/","type":"image"}"#
        let (first, _) = try run("[\(line(user: "a")),\(ad),\(line(user: "b")),\(ad.replacingOccurrences(of: ":1,", with: ":\"1\","))]")
        #expect((first.added, first.replaced, first.skipped) == (3, 1, 0))
        let (second, _) = try run(line(user: "c"), "[\(line(user: "a", variant: "featured")),\(line(user: "d"))]")
        #expect((second.added, second.replaced, second.skipped) == (2, 1, 0))
        let store = try SQLiteStore(path: path)
        #expect(try await store.ids() == ["a", "b", "c", "d"])
        #expect(try await store.ids(.advertisements) == ["1"])
    }

    private static func ad(_ id: Int, house: Bool = false) -> String {
        #"{"kind":"ad","id":\#(id),"contentUrl":"http://a/","clickthroughUrl":"http://b/","type":"image","house":\#(house)}"#
    }

    @Test("Campaigns are imported if their ads exist anywhere in the import; a duplicate id is an error", arguments: [false, true])
    func campaigns(isNew: Bool) async throws {
        func campaign(_ id: String, _ creatives: String) -> String {
            #"{"kind":"campaign","id":"\#(id)","advertiser":"A","creatives":[\#(creatives)]}"#
        }
        let kinds = ItemKinds.standard.adding([CampaignKind(creatives: CreativeNames())])
        func run(_ text: String, policy: BadItemPolicy = .stop, isRehearsal: Bool = false) throws -> (ImportSummary, [String]) {
            var reports: [String] = []
            let session = try ItemImport(into: path, kinds: kinds, policy: policy, isRehearsal: isRehearsal) { reports.append("\($0)") }
            try session.append(Array(text.utf8))
            try session.endOfFile()
            return (try session.commit(), reports)
        }
        if !isNew { _ = try run(line(user: "old")) }
        let lines = [campaign("a", "1, \"ad:2\""), Self.ad(1), line(user: "u"), campaign("b", "1,3"), Self.ad(2), campaign("a", "1")]
        let error = #expect(throws: InvalidItem.self) { try run(lines.dropLast().joined(separator: "\n")) }
        #expect(error.map { "\($0)" } == "line 4: creatives.1: the store has no ad '3'")
        let twice = #expect(throws: InvalidItem.self) { try run("[" + lines.joined(separator: ",\n") + "]") }
        #expect(
            twice.map { "\($0)".contains("line 6, index 5") && "\($0)".contains("id: line 1 already has a campaign with this id") } == true)
        let content = #expect(throws: InvalidItem.self) { try run(campaign("c", "\"user:u\"")) }
        #expect(content.map { "\($0)" } == "line 1: creatives.0: 'user:u' is not an ad")
        for isRehearsal in [true, false] {
            let (summary, reports) = try run(lines.joined(separator: "\n"), policy: .skip, isRehearsal: isRehearsal)
            #expect(summary.added == 4 && summary.skipped == 2 && reports.count == 2, "\(summary) \(reports)")
        }
        let house = #expect(throws: InvalidItem.self) { try run([Self.ad(2, house: true), campaign("e", "1,2")].joined(separator: "\n")) }
        #expect(house.map { "\($0)".hasPrefix("line 2: creatives.1: '2' is a house ad") } == true)
        // One that already exists, and one that is taken down, will do.
        let store = try SQLiteStore(path: path)
        #expect(try await store.ids(.advertisements).contains("a"))
        _ = try await store.takeDown(ItemKey(kind: "ad", id: "2"))
        #expect(try run(campaign("d", "1,2")).0.added == 1)
    }

    @Test("Positions of pinned ads are stored, and replaced by a later import")
    func lists() async throws {
        func ad(_ id: Int) -> String {
            #"{"kind":"ad","id":\#(id),"contentUrl":"http://a/","clickthroughUrl":"http://b/","type":"image"}"#
        }
        func listings(_ store: SQLiteStore) async throws -> [String] {
            try await store.read { snapshot in
                let users = try snapshot.items(in: .content, .forward, of: nil, limit: 100)
                return try snapshot.listings(in: .content, between: .min ..< .max, limit: 100).map { listing in
                    "\(users.last { $0.position <= listing.position }?.id ?? "") \(listing.item.id)"
                }
            }
        }
        let first = "[\(ad(3)),\(line(user: "a")),\(ad(1)),\(ad(2)),\(line(user: "b")),\(line(user: "c")),\(ad(1))]"
        _ = try run(first)
        #expect(try await listings(SQLiteStore(path: path)) == [" 3", "a 1", "a 2", "c 1"])
        _ = try run(first)
        #expect(try await listings(SQLiteStore(path: path)) == [" 3", "a 1", "a 2", "c 1"])
        // What a file lists anew stands there alone; what it does not list stays.
        _ = try run("[\(line(user: "b")),\(ad(1)),\(line(user: "d")),\(ad(4))]")
        let store = try SQLiteStore(path: path)
        #expect(try await listings(store) == [" 3", "a 2", "b 1", "d 4"])
        // One that nobody listed stands at the end; one that is taken down nowhere.
        _ = try await store.put(advertisement("5"))
        _ = try await store.put(advertisement("4"))
        _ = try await store.takeDown(ItemKey(kind: "ad", id: "2"))
        #expect(try await listings(store) == [" 3", "b 1", "d 4", "d 5"])
        // Between two neighbours without room: what stands there moves, and what is listed behind it too.
        for index in 0..<60 {
            _ = try await store.apply([.insert(user("n\(index)"), .after(ItemKey(kind: "user", id: "a")))])
        }
        #expect(try await listings(store) == [" 3", "b 1", "d 4", "d 5"])
    }

    @Test("An import stops at an invalid item, names line, field and reason, and rolls back all files")
    func stops() async throws {
        _ = try run(line(user: "old"))
        let error = #expect(throws: InvalidItem.self) {
            try run(line(user: "new"), line(user: "newer") + "\n" + line(user: "bad", avatar: "ftp://a/"))
        }
        #expect(error?.description == #"line 2: avatarUrl: must be an absolute http or https URL: "ftp://a/""#)
        #expect(try await SQLiteStore(path: path).ids() == ["old"])
    }

    @Test("With the skip policy, invalid items are skipped and reported")
    func skips() async throws {
        let (summary, reports) = try run("[\(line(user: "a")),\n{\"kind\":\"dog\"},\n{,},\n\(line(user: "b"))]", policy: .skip)
        #expect((summary.added, summary.replaced, summary.skipped) == (2, 0, 2))
        #expect(reports.map(\.line) == [2, 3])
        #expect(reports.map(\.error.field) == ["kind", nil])
        #expect(try await SQLiteStore(path: path).ids() == ["a", "b"])
    }

    @Test("Gzip input, with several members and in any chunks, is imported like plain input", arguments: [1, 7, 4_096, .max])
    func compressed(piece: Int) async throws {
        let lines = (0..<3_000).map { line(user: "u\($0)") + "\n" }
        let bytes = gzipped(Array(lines[..<2_000].joined().utf8)) + gzipped(Array(lines[2_000...].joined().utf8))
        let session = try ItemImport(into: path)
        var rest = bytes[...]
        while !rest.isEmpty {
            try session.append(rest.prefix(piece))
            rest = rest.dropFirst(piece)
        }
        try session.endOfFile()
        // Another file may be plain.
        try session.append(Array(line(user: "plain").utf8))
        try session.endOfFile()
        let summary = try session.commit()
        #expect((summary.added, summary.bytes) == (3_001, bytes.count + line(user: "plain").utf8.count))
    }

    @Test("Corrupt, truncated, too long or invalid gzip imports nothing")
    func brokenGzip() async throws {
        let whole = gzipped(Array((0..<2_000).map { line(user: "u\($0)") + "\n" }.joined().utf8))
        var damaged = whole
        damaged[whole.count / 2] ^= 0xFF
        // What is damaged may decompress to something for a while, which is then a bad item.
        #expect(throws: (any Error).self) {
            let session = try ItemImport(into: path)
            try session.append(damaged)
            try session.endOfFile()
        }
        let session = try ItemImport(into: path)
        let error = #expect(throws: ItemFileError.self) {
            try session.append(Array(whole.dropLast(9)))
            try session.endOfFile()
        }
        #expect(error?.description.contains("truncated") == true, "\(String(describing: error))")
        let bomb = gzipped([UInt8](repeating: 0x20, count: 64 << 20))
        #expect(bomb.count < 1 << 20)
        let limited = try ItemImport(into: path, limit: 1 << 20)
        #expect(throws: ItemFileError.tooLong(limit: 1 << 20)) { try limited.append(bomb) }
        let strict = try ItemImport(into: path, isCompressed: true)
        #expect(throws: ItemFileError.self) { try strict.append(Array(line(user: "a").utf8)) }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("Empty gzip input is an error")
    func emptyGzip() throws {
        let session = try ItemImport(into: path, isCompressed: true) { _ in }
        #expect(throws: ItemFileError.self) { try session.endOfFile() }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A dry run counts the changes and writes nothing")
    func rehearsal() async throws {
        func rehearse(_ text: String) throws -> ImportSummary {
            let session = try ItemImport(into: path, policy: .skip, isRehearsal: true)
            try session.append(Array(text.utf8))
            try session.endOfFile()
            return try session.commit()
        }
        let text = [line(user: "a"), line(user: "b"), "{}", line(user: "a")].joined(separator: "\n")
        let fresh = try rehearse(text)
        #expect((fresh.added, fresh.replaced, fresh.skipped) == (2, 1, 1))
        #expect(try FileManager.default.contentsOfDirectory(atPath: (path as NSString).deletingLastPathComponent).isEmpty)
        _ = try run(line(user: "b"))
        let store = try SQLiteStore(path: path)
        let version = store.version
        let known = try rehearse(text)
        #expect((known.added, known.replaced, known.skipped) == (1, 2, 1))
        #expect(store.version == version)
        #expect(try await store.ids() == ["b"])
    }

    @Test("An open store sees an import atomically")
    func visibility() async throws {
        let store = try SQLiteStore(path: path)
        let session = try ItemImport(into: path)
        let version = store.version
        for number in 0..<2_000 { try session.append(Array((line(user: "\(number)") + "\n").utf8)) }
        try session.endOfFile()
        #expect(store.version == version)
        #expect(try await store.ids().isEmpty)
        #expect(try session.commit().added == 2_000)
        #expect(store.version != version)
        #expect(try await store.ids(limit: 100).count == 2_000)
    }

    @Test("A cancelled or abandoned import leaves nothing")
    func abandons() async throws {
        do {
            let session = try ItemImport(into: path)
            try session.append(Array(line(user: "a").utf8))
            try session.endOfFile()
        }
        let session = try ItemImport(into: path)
        try session.append(Array(line(user: "b").utf8))
        session.rollback()
        #expect(throws: StoreError.self) { try session.commit() }
        #expect(try await SQLiteStore(path: path).ids().isEmpty)
    }

    @Test("An import reports its progress")
    func progress() throws {
        let text = (0..<10_000).map { line(user: "\($0)") }.joined(separator: "\n")
        let file = try #require(FileHandle(forReadingAtPath: scratch.write(text, to: "file")))
        let session = try ItemImport(into: path)
        var bytes: [Int] = []
        try session.add(contentsOf: file.fileDescriptor) { bytes.append($0.bytes) }
        #expect(bytes.count > 2 && bytes == bytes.sorted() && bytes.last == text.utf8.count)
    }

    @Test("An unreadable descriptor is an error, and nothing is imported")
    func unreadable() async throws {
        let session = try ItemImport(into: path)
        #expect(throws: StoreError.self) { try session.add(contentsOf: -1) }
        #expect(try await SQLiteStore(path: path).ids().isEmpty)
    }

    @Test("On a full disk the error names the store, which stays unchanged", .mounts)
    func fullDisk() async throws {
        let mount = try Mount.small(scratch.folder, kibibytes: 1_024)
        defer { mount.remove() }
        _ = try run(line(user: "old"))
        let lines = (0..<20_000).map { line(user: "\($0)") + "\n" }.joined()
        let session = try ItemImport(into: path)
        let error = #expect(throws: StoreError.self) {
            try session.append(Array(lines.utf8))
            try session.endOfFile()
            _ = try session.commit()
        }
        #expect(error?.description.hasPrefix("\(path): ") == true)
        #expect(error?.description.hasSuffix("is full; nothing was imported") == true)
        #expect(try await SQLiteStore(path: path).ids() == ["old"])
    }

    /// So many that an import reports progress before its end.
    private static let many = TestSize.full(60_000, small: 12_000)

    @Test("A killed import leaves the store unchanged, and the next one succeeds")
    func killed() async throws {
        _ = try run(line(user: "old"))
        let text = (0..<Self.many).map { line(user: "\($0)") }.joined(separator: "\n")
        let file = try scratch.write(text, to: "big")
        let victim = try Program.victim("import", path, file)
        while let line = victim.line(), line != "committed", Int(line) ?? 0 < Self.many / 3 {}
        victim.kill()
        #expect(throws: Program.Failure.self) { try victim.output() }
        let store = try SQLiteStore(path: path)
        #expect(try await store.ids() == ["old"])
        let session = try ItemImport(into: path)
        let handle = try #require(FileHandle(forReadingAtPath: file))
        try session.add(contentsOf: handle.fileDescriptor)
        #expect(try session.commit().added == Self.many)
        #expect(try await store.read { try $0.counts() }.values.reduce(0, +) == Self.many + 1)
        #expect(try scratch.sqlite("items.sqlite", "PRAGMA integrity_check") == "ok")
    }

    @Test("A new store gets the last of items with one id, at the position of the first")
    func twins() async throws {
        let ids = (0..<3_000).map { "\(($0 * 7_919) % 1_000)" }
        let text = ids.enumerated().map { line(user: $1, avatar: "https://example.com/\($0).png") }.joined(separator: "\n")
        let (summary, _) = try run(text)
        #expect((summary.added, summary.replaced) == (1_000, 2_000))
        let store = try SQLiteStore(path: path)
        #expect(try await store.ids(limit: 100) == Array(ids[..<1_000]))
        let bodies = try await store.read {
            try $0.items(in: .content, .forward, of: nil, limit: 1_000).map { String(decoding: $0.body, as: UTF8.self) }
        }
        #expect(bodies.enumerated().allSatisfy { $1.contains("/\($0 + 2_000).png") })
    }

    @Test("A new store appears only when complete, and drafts of ended processes are removed")
    func draft() async throws {
        let text = (0..<Self.many).map { line(user: "\($0)") }.joined(separator: "\n")
        let file = try scratch.write(text, to: "big")
        let victim = try Program.victim("import", path, file)
        while let line = victim.line(), line != "committed", Int(line) ?? 0 < Self.many / 3 {}
        victim.kill()
        #expect(throws: Program.Failure.self) { try victim.output() }
        #expect(
            try scratch.names() == ["big", "items.sqlite.draft-1"]
                || scratch.names() == ["big", "items.sqlite.draft-1", "items.sqlite.draft-1-journal"])
        #expect(try run(line(user: "a")).0.added == 1)
        #expect(try await SQLiteStore(path: path).ids() == ["a"])
        #expect(try scratch.names().filter { $0.contains("draft") } == [])
    }

    @Test("A store created meanwhile receives the items and keeps its own")
    func meanwhile() async throws {
        let session = try ItemImport(into: path)
        for name in ["a", "b"] { try session.append(Array((line(user: name, variant: "featured") + "\n").utf8)) }
        let store = try SQLiteStore(path: path)
        _ = try await store.put(user("b"))
        try session.endOfFile()
        let summary = try session.commit()
        #expect((summary.added, summary.replaced) == (1, 1))
        #expect(try await store.ids() == ["b", "a"])
        #expect(try await store.read { try $0.item(kind: "user", id: "b") }?.variant == "featured")
        #expect(try scratch.names().filter { $0.contains("draft") } == [])
    }
}
