import Foundation
import TestSupport
import Testing

@Suite("Killed creation of the tables of a PostgreSQL database", .timeLimit(.untilStuck))
struct KilledCreationTests {
    private static let parts = "SELECT part, version FROM intertwine_schema ORDER BY part"

    @Test(
        "A killed start creates all tables of a part or none, and the next start creates the rest",
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
            let expected = try whole.psql(Self.parts)
            var (step, isKilled) = (1, true)
            while isKilled {
                let database = try server.makeDatabase()
                isKilled = try run(database.uri, killedAt: step)
                let isThere = try database.psql("SELECT to_regclass('intertwine_schema') IS NOT NULL").hasPrefix("t")
                if isThere { #expect(try database.psql(Self.parts) == expected, "step \(step)") }
                #expect(try !run(database.uri, killedAt: 0), "step \(step)")
                #expect(try database.psql(Self.parts) == expected, "step \(step)")
                step += 1
            }
            #expect(step > 10)
        }
    }
}
