import Foundation
import Logging
import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwineImages
@testable import IntertwineService
@testable import IntertwineStorage

@Suite("Cached image responses", .timeLimit(.untilStuck))
struct ImageResponseCacheTests {
    private struct Kept {
        weak var image: CachedImage?
        let bytes: Int
    }

    @Test("The response cache retains no image that the memory cache evicted")
    func cap() async throws {
        let image = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../Sources/IntertwineSample/files/images/ad-0.png")
            .standardized
        let bytes = [UInt8](try Data(contentsOf: image))
        let origin = try Origin { _, connection in connection.answer(200, ["Content-Type: image/png"], body: bytes) }
        defer { origin.stop() }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
        let memory = 8 * (bytes.count + 2_048)
        let configuration = try ServiceConfiguration(
            try SettingSources(
                flags: [
                    "store.database": "\(folder)/feed.sqlite", "images.memory-cache": "\(memory)",
                    "images.allowed-networks": "127.0.0.1/32",
                    "images.allowed-ports": "\(origin.port)",
                ], environment: [:], file: "\(folder)/empty.yaml"))
        let keys = SigningKeys(current: try SigningKey(Array(repeating: 7, count: 32)))
        let proxy = try ImageProxy(
            configuration.images, signer: configuration.images.signer(keys), folder: configuration.store.path(of: "images"),
            clock: SQLiteLedger.systemTime, logger: Logger(label: "tests"))
        var kept: [Kept] = []
        for number in 0..<40 {
            let source = origin.url("/\(number).png")
            if case .stream(let stream, _) = await proxy.manager.image(ImageRequest(source)).body { for try await _ in stream {} }
            proxy.responseCache.store(path: "/images/x/\(number)", ImageRequest(source), expires: .max, now: 1)
            kept.append(Kept(image: proxy.manager.cached(source), bytes: bytes.count))
            #expect(kept.last?.image != nil)
        }
        // An image is in memory until its write to the disk is complete.
        await proxy.manager.flush()
        let held = kept.filter { $0.image != nil }
        #expect(!held.isEmpty)
        #expect(held.reduce(0) { $0 + $1.bytes } <= memory)
        await proxy.shutDown()
    }
}
