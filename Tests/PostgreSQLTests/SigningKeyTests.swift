import IntertwineFeed
import IntertwinePostgreSQL
import TestSupport
import Testing

@Suite("Signing keys in PostgreSQL")
struct SigningKeyTests {
    @Test("replicas that start at once have one key, and a newer one leaves the one before in use")
    func oneKey() async throws {
        let database = try PostgresServer.shared().makeDatabase()
        let address = try PostgresAddress(database.uri)
        let keys = try await withThrowingTaskGroup(of: SigningKeys.self) { group in
            for _ in 0..<4 { group.addTask { try await offPool { try PostgresSigningKeys.load(address) } } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        let next = SigningKey.random()
        try database.psql("INSERT INTO signing_key (key) VALUES ('\(next.hexadecimal)')")
        #expect(try PostgresSigningKeys.load(address) == SigningKeys(current: next, previous: try #require(keys.first).current))
        try database.psql("INSERT INTO signing_key (key) VALUES ('none')")
        #expect(throws: StoreError.self) { try PostgresSigningKeys.load(address) }
    }
}
