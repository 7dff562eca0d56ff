import Foundation
import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Fairness of the workers", .serialized, .timeLimit(.untilStuck))
struct WorkerShareTests {
    /// Seconds of work.
    private static let long = TransformJob(format: .avif, quality: 90)

    @Test("Slow images of one origin do not block those of others")
    func others() async throws {
        let tools = VipsTools()
        try tools.drawn("large.ppm", 4_000, 3_000)
        try tools.vips("jpegsave", "large.ppm", "large.jpg")
        try tools.drawn("little.ppm", 64, 64)
        try tools.vips("jpegsave", "little.ppm", "little.jpg")
        let (large, little) = (try tools.bytes("large.jpg"), try tools.bytes("little.jpg"))
        let before = BuiltWorkers.processes
        let workers = try BuiltWorkers.make(count: 2)
        let (slow, other) = (TransformPriority(.visible, origin: "a"), TransformPriority(.visible, origin: "b"))
        let made = EventLog<String>()
        let tasks = (0..<4).map { _ in
            Task {
                _ = try? await workers.transform(large, Self.long, urgency: slow)
                made.append("slow")
            }
        }
        while BuiltWorkers.processes.count < before.count + 2 { try await Task.sleep(for: .milliseconds(5)) }
        let busy = BuiltWorkers.processes.filter { !before.contains($0) }
        while !busy.contains(where: { BuiltWorkers.ticks($0) > 20 }) { try await Task.sleep(for: .milliseconds(5)) }
        for _ in 0..<3 { #expect(try await workers.transform(little, TransformJob(width: 32, format: .png), urgency: other).width == 32) }
        #expect(made.events.isEmpty)
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        await workers.shutDown()
    }
}
