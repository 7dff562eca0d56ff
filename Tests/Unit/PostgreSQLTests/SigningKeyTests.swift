import TestSupport
import Testing

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

@Suite("Signing keys in PostgreSQL")
struct SigningKeyTests {
    @Test("Replicas that start together have one key, and switch to a new key after they accept it")
    func rotation() async throws {
        let database = try PostgresServer.shared().makeDatabase()
        let address = try PostgresAddress(database.uri)
        let keys = try await withThrowingTaskGroup(of: SigningKeys.self) { group in
            for _ in 0..<4 { group.addTask { try await offPool { try PostgresSigningKeys(address).load() } } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        let kept = try PostgresSigningKeys(address)
        let first = try await kept.read()
        try await kept.rotate(after: 3_600)
        // Nor is the one that signs at the moment to be void without having been the one before.
        await #expect(throws: StoreError.self) { try await kept.rotate(after: 0) }
        let introduced = try await kept.read()
        let next = try #require(introduced.next)
        #expect(introduced == SigningKeys(current: first.current, next: next))
        try database.psql("UPDATE signing_key SET made = made - interval '10 s'")
        #expect(try kept.load() == SigningKeys(current: next, previous: first.current))
        // What the first one signed would be void.
        await #expect(throws: StoreError.self) { try await kept.rotate(after: 3_600) }
        #expect(try await kept.read() == SigningKeys(current: next, previous: first.current))
        try await kept.rotate(after: 0)
        #expect(try await kept.read().previous == first.current)
        try database.psql("INSERT INTO signing_key (key) VALUES ('none')")
        #expect(throws: StoreError.self) { try PostgresSigningKeys(address) }
    }

    @Test("The age of a key starts at its commit, and a failed rotation names the remedy")
    func waiting() async throws {
        let database = try PostgresServer.shared().makeDatabase()
        let kept = try PostgresSigningKeys(PostgresAddress(database.uri))
        let other = try PostgresConnection(PostgresAddress(database.uri))
        try other.execute("BEGIN; LOCK TABLE signing_key")
        async let rotated: Void = kept.rotate(after: 0)
        let waits = "SELECT count(*) FROM pg_locks WHERE relation = 'signing_key'::regclass AND NOT granted"
        while try database.psql(waits) == "0" { await Task.yield() }
        let moment = try other.query("SELECT extract(epoch FROM clock_timestamp())::float8").number(0, 0)
        try other.execute("COMMIT")
        try await rotated
        #expect(try other.query("SELECT extract(epoch FROM max(made))::float8 FROM signing_key").number(0, 0) >= moment)
        try database.psql("UPDATE signing_key SET made = made - interval '10 s'")
        try database.psql("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
        let readOnly = try PostgresSigningKeys(PostgresAddress(database.uri))
        let error = await #expect(throws: StoreError.self) { try await readOnly.rotate(after: 0) }
        #expect(error?.description.contains("name the primary") == true)
    }
}
