import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineHTTPServer
@testable import IntertwineImages
@testable import IntertwinePrimitives
@testable import IntertwineService
@testable import IntertwineStorage

/// A store with a source, and all that keeps the one in step with the other.
final class House: Sendable {
    let folder: String
    let store: SQLiteStore
    let transfers: CurlClient
    private let loop: EventLoop
    private let source: Mutex<RemoteSource>
    private let memory = Mutex(HTTPValidatorCache())
    let skipped = EventLog<String>()
    let steps = EventLog<SourceProgress>()

    var database: String { folder + "/items.sqlite" }

    /// - Parameter allowed: what the address policy allows besides public addresses.
    init(_ api: Origin, path: String = "/users", allowed: [String] = ["127.0.0.1/32"], adjust: (inout RemoteSource) -> Void = { _ in })
        throws
    {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("sync-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        store = try SQLiteStore(path: folder + "/items.sqlite")
        loop = try EventLoop(label: "sync tests")
        let policy = AddressPolicy(
            allowedNetworks: allowed.compactMap(Network.init), allowedPorts: [api.port], ownAddresses: [])
        transfers = CurlClient(on: loop, policy: policy, resolver: Resolver(lookup: { _ in .failure(.hostNotFound) }))
        var source = RemoteSource(
            name: "people", url: try FetchURL(api.url(path)), kind: UserKind(), items: try #require(JSONPointer("/data/users")))
        source.next = .link
        source.deadline = .seconds(30)
        adjust(&source)
        self.source = Mutex(source)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    func change(_ body: (inout RemoteSource) -> Void) {
        source.withLock { body(&$0) }
    }

    /// Synchronises once, with what the last time left in memory.
    @discardableResult
    func run() async throws -> SourceOutcome {
        let run = SyncJob(source.withLock { $0 }, transfers: transfers, into: ItemFile(database)) { [skipped] bad in
            skipped.append(bad.description)
        } onProgress: { [steps] in
            steps.append($0)
        } version: { [store] in
            store.version
        }
        var memory = memory.withLock { $0 }
        defer { self.memory.withLock { $0 = memory } }
        return try await run.run(&memory)
    }

    /// Synchronises once, which must fail, and change nothing.
    func failure(sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let before = store.version
        do {
            let outcome = try await run()
            Issue.record("\(outcome)", sourceLocation: sourceLocation)
            return ""
        } catch let failure as SourceError {
            #expect(store.version == before, sourceLocation: sourceLocation)
            #expect(!"\(failure)".contains("\n"), sourceLocation: sourceLocation)
            let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains("source") }
            #expect(files == [], sourceLocation: sourceLocation)
            return "\(failure)"
        }
    }

    /// Ids and usernames of all users, in the feed's order, in one read transaction.
    func users() async throws -> [(id: String, name: String)] {
        try await store.read { snapshot in
            try snapshot.items(in: .content, .forward, of: nil, limit: 10_000).map { item in
                let name = try #require(try ItemFields(item.body).optionalText("username", limit: 512))
                return (item.id, String(decoding: name, as: UTF8.self))
            }
        }
    }

    func ids() async throws -> [String] { try await users().map(\.id) }

    func stop() async {
        await transfers.shutDown()
        loop.stop()
    }
}
