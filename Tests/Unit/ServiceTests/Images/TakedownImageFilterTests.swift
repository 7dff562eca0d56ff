import Foundation
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineService
@testable import IntertwineStorage

@Suite("Images of items that are taken down")
struct TakedownImageFilterTests {
    @Test("After many takedowns a later change of the store is cheap, and a further takedown is found")
    func manyTakedowns() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func line(_ id: String) -> String {
            #"{"kind":"user","id":"\#(id)","username":"A","avatarUrl":"https://example.com/\#(id).png","type":"regular"}"#
        }
        let importer = try ItemImport(into: "\(folder)/items.sqlite")
        let count = TestSize.full(90_000, small: 20_000)
        try importer.append(Array((0..<count).map { line("\($0)") }.joined(separator: "\n").utf8))
        try importer.endOfFile()
        _ = try importer.commit()
        let store = try SQLiteStore(path: "\(folder)/items.sqlite")
        let filter = TakedownImageFilter(store)
        #expect(try await store.apply([.clear(section: "main")]).removed == count)
        let first = try await ContinuousClock().measure { _ = try await filter.read() }
        #expect(filter.contains("https://example.com/7.png"))
        var later: [Duration] = []
        for number in 0..<5 {
            _ = try await store.put(ItemKinds.standard.validate(Array(line("new\(number)").utf8)))
            later.append(try await ContinuousClock().measure { _ = try await filter.read() })
        }
        // Each one cost as much as the first. The fastest one is compared, because other tests use the processors too.
        #expect(try #require(later.min()) * 3 < first, "\(first), \(later)")
        #expect(!filter.contains("https://example.com/new1.png"))
        _ = try await store.takeDown(ItemKey(kind: "user", id: "new1"))
        try await filter.read()
        #expect(filter.contains("https://example.com/new1.png") && filter.contains("https://example.com/7.png"))
        _ = try await store.release([ItemKey(kind: "user", id: "7")])
        try await filter.read()
        #expect(!filter.contains("https://example.com/7.png"))
    }
}
