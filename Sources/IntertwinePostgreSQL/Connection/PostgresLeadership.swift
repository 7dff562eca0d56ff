internal import Dispatch
internal import IntertwineStorage

/// One of all processes with the same database leads: the one whose session holds an advisory lock.
///
/// The lock goes with the session, and the server ends the session of a process that has died at once, that of a machine that has gone
/// within five seconds (``PostgresSession``), and that of a process that is frozen within six (``GuardedSession``). Whoever asks next leads
/// from then on.
///
/// `@unchecked Sendable`: the session is touched on the serial queue alone.
final class PostgresLeadership: LeaderElection, @unchecked Sendable {
    /// The first of the two numbers of these locks: "INTD".
    private static let lockClass: Int64 = 0x494E_5444
    /// Milliseconds that a server may take to say that the session goes on.
    private static let timeoutMilliseconds: Int32 = 1_000

    private let address: PostgresAddress
    private let duty: Int64
    private let queue = DispatchQueue(label: "intertwine.leadership")
    /// That holds the lock, should `isLeading` say so.
    private var session: GuardedSession?
    private var holdsLock = false

    /// - Parameter duty: a number of what is led.
    init(_ address: PostgresAddress, duty: Int64) {
        (self.address, self.duty) = (address, duty)
    }

    func isLeading() async -> Bool {
        await withCheckedContinuation { continuation in
            queue.async { [self] in continuation.resume(returning: check()) }
        }
    }

    /// False where the server cannot be asked: then another process may be asked by those who can.
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
