import Foundation
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Animations in AVIF", .serialized, .timeLimit(.untilStuck))
struct AnimatedAVIFTests {
    /// - Parameter hasStill: whether a still image comes with it.
    private static func animation(hasStill: Bool) throws -> [UInt8] {
        let sequence = Frames.avifSequence(64, 48, frames: 3)
        guard hasStill else { return sequence }
        let tools = VipsTools()
        try tools.drawn("drawn.ppm", 64, 48)
        try tools.vips("heifsave", "drawn.ppm", "still.avif", "--compression", "av1")
        var bytes = try tools.bytes("still.avif")
        bytes.replaceSubrange(8..<12, with: Array("avis".utf8))
        // The first box of the other one says that it is an animation; the last one has its frames.
        return bytes + sequence.dropFirst(24)
    }

    private static func get(_ house: House, _ source: String, _ accept: String) async throws -> Got {
        try await Got(house.manager.image(ImageRequest(source, sizing: ResizeMode("20x20-fit"), accept: accept)))
    }

    private static let browser = "image/avif,image/webp,*/*"

    @Test(
        "A size of an animated AVIF is its first frame if it can be decoded, otherwise the original; the original stays cached",
        arguments: [false, true])
    func sized(_ hasStill: Bool) async throws {
        let body = try Self.animation(hasStill: hasStill)
        let origin = try Origin { _, connection in
            connection.answer(200, ["Content-Type: image/avif", "Cache-Control: max-age=86400"], body: body)
        }
        defer { origin.stop() }
        let workers = try BuiltWorkers.make()
        let folder = TemporaryFolder()
        let source = origin.url("/a")
        let facts = ImageMetadataTable(folder: nil, capacity: 10)
        for start in 0..<2 {
            let house = try House([origin], folder: folder.path) { ($0.transformer, $0.facts) = (workers, facts) }
            await house.manager.flush()
            let original = try await house.get(source, accept: "image/avif")
            #expect(original.status == 200 && original.body == body && original.headers["Cache-Control"] == "public, max-age=86400")
            for round in 0..<3 {
                let got = try await Self.get(house, source, Self.browser)
                #expect(got.status == 200 && got.outcome.outcome == (start == 0 && round == 0 ? .miss : .hit), "\(got.headers)")
                #expect((got.body == body) == !hasStill && got.headers["Content-Type"] == "image/avif")
                #expect(got.headers["Image-Error"] == (hasStill ? nil : "no-decoder"))
            }
            // Clients that take no AVIF get what can be made.
            #expect(try await Self.get(house, source, "image/png").status == (hasStill ? 200 : 406))
            let after = try await house.get(source, accept: "image/avif")
            #expect(after.status == 200 && after.body == body && after.outcome.outcome == .hit)
            #expect(after.headers["Cache-Control"] == "public, max-age=86400")
            await house.manager.flush()
            await house.stop()
        }
        #expect(origin.requests.count == 1)
        await workers.shutDown()
    }

    @Test("A corrupt AVIF that is not an animation is refused")
    func damaged() async throws {
        let tools = VipsTools()
        try tools.drawn("drawn.ppm", 64, 48)
        try tools.vips("heifsave", "drawn.ppm", "still.avif", "--compression", "av1")
        let still = try tools.bytes("still.avif")
        let workers = try BuiltWorkers.make()
        let failure = await #expect(throws: ImageError.self) {
            try await workers.transform(Array(still.prefix(still.count / 2)), TransformJob(width: 20, format: .png), priority: .visible)
        }
        #expect(failure?.code == "undecodable")
        // It has all that it says, and no size.
        let unknown = await #expect(throws: ImageError.self) {
            try await workers.transform(TestImage.avif, TransformJob(width: 20, format: .png), priority: .visible)
        }
        #expect(unknown?.code == "no-decoder")
        await workers.shutDown()
    }
}
