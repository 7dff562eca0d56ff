import Foundation
import IntertwineService
import IntertwineTesting
import TestSupport
import Testing

@Suite("Embedding program with its own store and ledger", .timeLimit(.minutes(1)))
struct OwnStoreTests {
    /// A store with one item and a ledger, in separate files.
    private static func extensions(in folder: String) throws -> ServiceExtensions {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let session = try ItemImport(into: "\(folder)/own.sqlite")
        try session.append(Array(sampleUser("brought").utf8))
        try session.endOfFile()
        _ = try session.commit()
        var extensions = ServiceExtensions()
        extensions.store = try SQLiteStore(path: "\(folder)/own.sqlite")
        extensions.ledger = try SQLiteLedger(path: "\(folder)/own.ledger.sqlite")
        return extensions
    }

    @Test("The feed comes from the program's store, and routes that write items are absent")
    func serves() async throws {
        let folder = NSTemporaryDirectory() + "intertwine-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let service = try await TestService(.socket, extensions: try Self.extensions(in: folder))
        let page = try service.get("/feed")
        #expect(page.status == 200 && page.text.contains("user:brought"))
        #expect(try service.get("/readyz").status == 200)
        for path in ["/admin/items/user/brought", "/admin/takedowns", "/admin/sources"] {
            #expect(try service.admin("GET", path).status == 404)
        }
        #expect(try service.admin("POST", "/admin/operations", body: #"{"operations":[]}"#).status == 404)
        #expect(try service.admin("GET", "/admin/reports").status == 200)
        #expect(try service.admin("GET", "/metrics").status == 200)
        #expect(try !service.admin("GET", "/openapi.json").text.contains("importItems"))
        await service.stop()
    }

    @Test("A test with a store of its own has no items to import")
    func items() async throws {
        let folder = NSTemporaryDirectory() + "intertwine-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let extensions = try Self.extensions(in: folder)
        await #expect(throws: TestServiceError.itemsBesideStore) {
            _ = try await TestService(items: sampleUser("configured"), extensions: extensions)
        }
    }

    @Test("Sections are refused because they require the service's own store")
    func refuses() async throws {
        let folder = NSTemporaryDirectory() + "intertwine-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let extensions = try Self.extensions(in: folder)
        try "sections: {main: {order: newest}}".write(toFile: "\(folder)/kinds.yaml", atomically: true, encoding: .utf8)
        let error = await #expect(throws: ConfigurationError.self) {
            _ = try await TestService(.socket, items: "", settings: ["kinds.file": "\(folder)/kinds.yaml"], extensions: extensions)
        }
        #expect(error?.description.contains("sections require the service's own store") == true)
    }
}
