import Foundation
import IntertwineService
import Logging

/// Makes services in this process and lets go of them: each must take with it what it has opened.
struct EmbedCheck {
    let services: Int

    func run() async throws -> Bool {
        // The first ones also make what is made once.
        for number in 0..<4 { try await embed(runs: number % 2 == 0) }
        let before = try await settled(atMost: 0)
        for number in 0..<services { try await embed(runs: number % 10 == 0) }
        let after = try await settled(atMost: before)
        say("descriptors: \(before) before, \(after) after \(services) services")
        return after <= before
    }

    private func embed(runs: Bool) async throws {
        if runs {
            guard try await FeedProbe.run({ _ in true }) else { throw CancellationError() }
            return
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let sources = try SettingSources(
            flags: ["store.database": folder.appendingPathComponent("items.sqlite").path], environment: [:])
        _ = try FeedService.build(
            configuration: ServiceConfiguration(sources), logger: Logger(label: "probe") { _ in SwiftLogNoOpLogHandler() })
    }

    /// Descriptors that are open, once those that are given back on other threads are: at most five seconds later.
    private func settled(atMost goal: Int) async throws -> Int {
        var open = descriptors
        for _ in 0..<(goal > 0 ? 100 : 10) where open > goal {
            try await Task.sleep(for: .milliseconds(50))
            open = descriptors
        }
        return open
    }

    private var descriptors: Int { (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? .max }
}
