import TestSupport

@testable import IntertwineFeed
@testable import IntertwinePostgreSQL
@testable import IntertwineStorage

/// What all ledgers promise is tested with each of these.
enum LedgerKind: String, CaseIterable {
    case sqlite, postgresql
}

/// An empty ledger of one test's own.
final class LedgerBench: Sendable {
    private enum Place {
        case file(Scratch)
        case database(PostgresServer.Database)
    }

    let clock = TestClock()
    let ledger: any PersistentLedger
    private let place: Place
    private let hasClock: Bool

    /// - Parameter hasClock: whether the time is that of ``clock``; otherwise it is the system's.
    init(_ kind: LedgerKind, hasClock: Bool = true) throws {
        place =
            switch kind {
            case .sqlite: .file(try Scratch())
            case .postgresql: .database(try PostgresServer.shared().makeDatabase())
            }
        self.hasClock = hasClock
        ledger = try Self.open(place, hasClock ? clock : nil)
    }

    private static func open(_ place: Place, _ clock: TestClock?) throws -> any PersistentLedger {
        switch place {
        case .file(let scratch): return try scratch.ledger(clock)
        case .database(let database):
            let address = try PostgresAddress(database.uri)
            guard let clock else { return try PostgresLedger(address) }
            return try PostgresLedger(address, now: { clock.now })
        }
    }

    /// The same ledger, as another process opens it. It goes by the same time.
    func another() throws -> any PersistentLedger { try Self.open(place, hasClock ? clock : nil) }

    /// What another program finds in the tables, in lines of columns that `|` divides.
    func query(_ sql: String) throws -> String {
        switch place {
        case .file(let scratch): try scratch.sqlite("ledger.sqlite", sql)
        case .database(let database): try database.psql(sql)
        }
    }

    /// Behind it nothing is left of what runs behind commits, such as the sweep.
    func settle() async throws {
        _ = try await ledger.report(days: 0...0, by: .day)
    }

    /// A click by a viewer, at the time of the bench.
    func click(
        _ cell: String = "ad:1", _ verdict: Verdict = .counted, duplicates: LedgerEvent.Deduplication? = nil,
        rates: [LedgerEvent.RateLimit] = []
    ) -> LedgerEntry {
        LedgerEntry(events: [
            LedgerEvent(
                at: clock.now, kind: .click, cell: cell, viewer: "v", address: "192.0.2.0", userAgent: "agent", verdict: verdict,
                deduplication: duplicates, rates: rates)
        ])
    }
}
