import Foundation
import TestSupport
import Testing

/// The tests of the same name in `StorageTests` cover files.
@Suite("Killed migrations of a PostgreSQL database", .timeLimit(.untilStuck))
struct KilledMigrationTests {
    private static let migrations = "SELECT part, count(*), max(number) FROM intertwine_migration GROUP BY part ORDER BY part"

    @Test(
        "A killed migration leaves all or nothing, and the next start completes it",
        arguments: [["takedown", "list"], ["export", "events"]])
    func everyStep(command: [String]) async throws {
        try await offPool {
            let server = try PostgresServer.shared()
            let kill = try KillStep()
            func run(_ uri: String, killedAt step: Int) throws -> Bool {
                let result = try Command.run(
                    command + ["--database", uri], environment: kill.environment(step: step, in: nil))
                if result.code != -SIGKILL { #expect(result.code == 0, "step \(step): \(result.lines)") }
                return result.code == -SIGKILL
            }
            let whole = try server.makeDatabase()
            #expect(try !run(whole.uri, killedAt: 0))
            let expected = try whole.psql(Self.migrations)
            var (step, isKilled) = (1, true)
            while isKilled {
                let database = try server.makeDatabase()
                isKilled = try run(database.uri, killedAt: step)
                let isThere = try database.psql("SELECT to_regclass('intertwine_migration') IS NOT NULL").hasPrefix("t")
                if isThere { #expect(try database.psql(Self.migrations) == expected, "step \(step)") }
                #expect(try !run(database.uri, killedAt: 0), "step \(step)")
                #expect(try database.psql(Self.migrations) == expected, "step \(step)")
                step += 1
            }
            #expect(step > 10)
        }
    }
}
