internal import Dispatch
internal import IntertwinePrimitives
internal import IntertwineStorageCore

/// An election among all processes that use a database: the process whose session holds an advisory lock leads.
/// `@unchecked Sendable`: only the serial queue accesses the session.
final class PostgresLeadership: LeaderElection, @unchecked Sendable {
    private static let lockClass: Int64 = 0x494E_5444
    /// The milliseconds within which the server must confirm that the session is alive.
    private static let timeoutMilliseconds: Int32 = 1_000

    private let address: PostgresAddress
    private let duty: Int64
    private let queue = DispatchQueue(label: "intertwine.leadership")
    private var session: GuardedSession?
    private var holdsLock = false

    init(_ address: PostgresAddress, duty: Int64) {
        (self.address, self.duty) = (address, duty)
    }

    func isLeading() async -> Bool {
        await queue.perform { [self] in check() }
    }

    private func check() -> Bool {
        do {
            let session = try connected()
            if !holdsLock {
                holdsLock = try session.use {
                    try $0.query("SELECT pg_try_advisory_lock($1::int, $2::int)", .integer(Self.lockClass), .integer(duty)).flag(0, 0)
                }
            }
            return holdsLock
        } catch {
            (session, holdsLock) = (nil, false)
            return false
        }
    }

    private func connected() throws -> GuardedSession {
        if let session, try session.use({ try $0.awaitResult(within: Self.timeoutMilliseconds) }) { return session }
        (session, holdsLock) = (nil, false)
        let new = try GuardedSession(PostgresConnection(address, PostgresSettings(applicationName: "intertwine leader")))
        session = new
        return new
    }
}
