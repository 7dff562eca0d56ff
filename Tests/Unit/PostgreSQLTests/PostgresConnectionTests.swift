import TestSupport
import Testing

@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

@Suite("Connection to PostgreSQL")
struct PostgresConnectionTests {
    private let database: PostgresServer.Database
    private let connection: PostgresConnection

    init() throws {
        database = try PostgresServer.shared().makeDatabase()
        connection = try PostgresConnection(PostgresAddress(database.uri))
    }

    @Test("Values round-trip, extreme values and NULL included")
    func values() throws {
        for number in [0, 1, -1, Int64.max, .min] {
            #expect(try connection.query("SELECT $1", .integer(number)).integer(0, 0) == number)
        }
        for number in [0, 0.1, -1e300, .infinity] { #expect(try connection.query("SELECT $1", .number(number)).number(0, 0) == number) }
        for text in ["", "é", "日本 🏕", "\u{1}"] {
            #expect(try connection.query("SELECT $1", .text(text)).text(0, 0).utf8.elementsEqual(text.utf8))
        }
        #expect(try connection.query("SELECT $1", .text("a\u{0}b")).text(0, 0) == "a\u{FFFD}b")
        #expect(try connection.query("SELECT $1", .bytes([0, 255, 1])).bytes(0, 0) == [0, 255, 1])
        #expect(try connection.query("SELECT $1", .flag(true)).flag(0, 0))
        let none = try connection.query("SELECT $1, $2, $3", .integer(nil), .text(nil), .bytes([]))
        #expect(none.isNull(0, 0) && none.optionalText(0, 1) == nil && !none.isNull(0, 2) && none.bytes(0, 2).isEmpty)
        #expect(try connection.query("SELECT 7::smallint, 7::integer, -7::integer").integer(0, 2) == -7)
    }

    @Test("Settings of a role change neither the meaning of statements nor durability")
    func roleSettings() throws {
        try database.psql("DO $$ BEGIN CREATE ROLE odd LOGIN; EXCEPTION WHEN duplicate_object THEN END $$")
        let usual = ["default_transaction_isolation = serializable", "standard_conforming_strings = off", "synchronous_commit = off"]
        for setting in usual { try database.psql("ALTER ROLE odd SET \(setting)") }
        let address = try PostgresAddress(database.uri.replacing("intertwine@", with: "odd@"))
        for readsOneState in [false, true] {
            let session = try PostgresConnection(address, PostgresSettings(readsOneState: readsOneState))
            #expect(
                try session.query("SELECT current_setting('transaction_isolation')").text(0, 0)
                    == (readsOneState ? "repeatable read" : "read committed"))
            #expect(try session.query("SELECT '\\u' = E'\\\\u'").flag(0, 0))
            #expect(try session.query("SELECT current_setting('synchronous_commit')").text(0, 0) == "on")
        }
    }

    @Test("Arrays unnest to rows, with null, empty and long elements")
    func arrays() throws {
        let rows = try connection.query(
            "SELECT * FROM unnest($1, $2, $3) AS a (number, name, body)", .integers([1, nil, 3]), .texts(["a\u{0}", "", nil]),
            .blobs([[1], nil, []]))
        #expect(rows.count == 3)
        #expect((0..<3).map { rows.optionalInteger($0, 0) } == [1, nil, 3])
        #expect((0..<3).map { rows.optionalText($0, 1) } == ["a\u{FFFD}", "", nil])
        #expect((0..<3).map { rows.isNull($0, 2) } == [false, true, false])
        #expect(try connection.query("SELECT * FROM unnest($1)", .texts([])).isEmpty)
    }

    @Test("Texts are ordered by code points")
    func order() throws {
        try connection.execute("CREATE TABLE word (text text COLLATE \"C\")")
        let words = ["b", "a", "\u{1}", "\u{2}", "Z", "é", "", "a\u{1}", "\u{10000}", "\u{FFFD}"]
        try connection.query("INSERT INTO word SELECT * FROM unnest($1)", .texts(words))
        let rows = try connection.query("SELECT text FROM word ORDER BY text")
        let sorted = words.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        #expect((0..<rows.count).map { Array(rows.text($0, 0).utf8) } == sorted.map { Array($0.utf8) })
    }

    @Test("Statements of one batch are all executed or none, and the connection stays usable")
    func group() throws {
        try connection.execute("CREATE TABLE entry (key bigint PRIMARY KEY)")
        let insert = { (key: Int64) in SQLCommand("INSERT INTO entry VALUES ($1)", [.integer(key)]) }
        let answers = try connection.run([insert(1), insert(2), SQLCommand("SELECT count(*) FROM entry")])
        #expect(answers.map(\.affected) == [1, 1, 1] && answers[2].integer(0, 0) == 2)
        let error = #expect(throws: PostgresError.self) { try connection.run([insert(3), insert(1), insert(4)]) }
        #expect(error?.code == "23505" && error?.isConnectionLost == false)
        #expect(try connection.query("SELECT count(*) FROM entry").integer(0, 0) == 2)
        // What could not be prepared is not remembered as if it were.
        for _ in 1...2 { #expect(throws: PostgresError.self) { try connection.query("SELECT * FROM nowhere WHERE key = $1", .integer(1)) } }
        #expect(try connection.run([insert(3)]).first?.affected == 1)
    }

    @Test("The next statement waits for a posted one, whether or not it succeeded")
    func posted() throws {
        try connection.execute("CREATE TABLE entry (key bigint PRIMARY KEY)")
        try connection.post([SQLCommand("INSERT INTO entry VALUES (1)")])
        try connection.post([SQLCommand("INSERT INTO entry VALUES (1)")])
        #expect(try connection.query("SELECT count(*) FROM entry").integer(0, 0) == 1)
    }

    @Test("A transaction with a serialization failure is retried; its own error ends it at once")
    func repeats() throws {
        try connection.execute("CREATE TABLE sum (total bigint); INSERT INTO sum VALUES (1)")
        let other = try PostgresConnection(PostgresAddress(database.uri))
        var attempts = 0
        try connection.transaction(isolation: "SERIALIZABLE") {
            attempts += 1
            let total = try connection.query("SELECT total FROM sum").integer(0, 0)
            if attempts == 1 { try other.query("UPDATE sum SET total = 10") }
            try connection.query("UPDATE sum SET total = $1", .integer(total + 1))
        }
        #expect(attempts == 2)
        #expect(try connection.query("SELECT total FROM sum").integer(0, 0) == 11)
        var failures = 0
        #expect(throws: PostgresError.self) {
            try connection.transaction {
                failures += 1
                throw PostgresError(code: "40P01", message: "always")
            }
        }
        #expect(failures == 5 && connection.isReusable)
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try connection.transaction {
                try connection.query("UPDATE sum SET total = 0")
                throw Failure()
            }
        }
        #expect(try connection.query("SELECT total FROM sum").integer(0, 0) == 11)
    }

    @Test("The server cancels a statement that exceeds its timeout")
    func timeout() throws {
        let settings = PostgresSettings(applicationName: "tests", statementTimeout: .milliseconds(50))
        let hasty = try PostgresConnection(PostgresAddress(database.uri), settings)
        let error = #expect(throws: PostgresError.self) { try hasty.query("SELECT pg_sleep(60)") }
        #expect(error?.code == "57014")
        #expect(try hasty.query("SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()").text(0, 0) == "tests")
    }

    @Test("Commits are durable, even if the database has synchronous_commit off")
    func synchronous() throws {
        try database.psql("ALTER DATABASE \(database.name) SET synchronous_commit = off")
        let careful = try PostgresConnection(PostgresAddress(database.uri))
        #expect(try careful.query("SELECT current_setting('synchronous_commit')").text(0, 0) == "on")
    }

    @Test("Notifications of other sessions arrive, and a silent server is distinguished from a dead one")
    func notifications() throws {
        try connection.execute("LISTEN news")
        #expect(try connection.notifications(within: 0).isEmpty)
        try database.psql("NOTIFY news")
        #expect(try connection.notifications(within: 30_000).count == 1)
        #expect(try connection.awaitResult(within: 30_000))
        try database.psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query = 'SELECT 1'")
        #expect(throws: PostgresError.self) { while try connection.notifications(within: 30_000).isEmpty {} }
        #expect(!connection.isAlive)
    }
}
