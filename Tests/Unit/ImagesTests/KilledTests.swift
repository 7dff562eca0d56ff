import Foundation
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("A process killed while it fills the cache", .timeLimit(.untilStuck))
struct KilledTests {
    /// An image whose bytes follow from its number.
    private static func image(_ path: String) -> [UInt8] {
        let number = Int(path.dropFirst()) ?? 0
        return TestImage.png(number, bytes: 1_000 + number * 977 % 30_000)
    }

    @Test("After the restart no image has wrong bytes, and the capacity holds")
    func killed() async throws {
        let folder = TemporaryFolder()
        let origin = try Origin { request, connection in
            connection.answer(200, ["Content-Type: image/png"], body: Self.image(request.path))
        }
        defer { origin.stop() }
        var first = 0
        for round in 0..<TestSize.full(5, small: 2) {
            let process = Process()
            process.executableURL = try CacheFiller.program()
            process.arguments = [String(origin.port), "fill", folder.path, String(first)]
            process.standardOutput = FileHandle.nullDevice
            try process.run()
            await origin.requested(origin.requests.count + 40 + round * 7)
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            first = origin.requests.count
            #expect(folder.allocatedBytes <= 1_000_000)
        }
        let house = try House([origin], folder: folder.path) {
            $0.diskBytes = 1_000_000
            // The one that was killed lived by this clock too.
            $0.clock = ImageConfiguration().clock
        }
        await house.manager.flush()
        let held = await house.manager.metrics().diskEntries
        let asked = origin.requests.count
        // The latest first: fetching others pushes out what is held.
        for number in (0..<first).reversed() {
            let got = try await house.get(origin.url("/\(number)"))
            #expect(got.body == Self.image("/\(number)"))
        }
        // Some of them did come from the disk.
        #expect(held > 0 && origin.requests.count < asked + first)
        await house.stop()
    }
}
