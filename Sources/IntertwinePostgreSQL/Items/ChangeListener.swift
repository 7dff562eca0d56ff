import Dispatch
import Glibc
internal import IntertwineFeed
internal import IntertwineStorageCore
import Synchronization

/// If the session is lost, or the server does not respond within half a second, each read of ``version`` reports a change until a session
/// listens again. Why: a change may have been missed, so caches are invalid.
final class ChangeListener: Sendable {
    private final class State: Sendable {
        let changes = Atomic<UInt64>(0)
        let isListening = Atomic(false)
        let isOver = Atomic(false)
    }

    private static let (interval, timeout): (Int32, Int32) = (200, 500)

    private let state = State()
    private let local: OwnWrites
    private let queue = DispatchQueue(label: "intertwine.changes")

    init(_ pool: PostgresPool, _ local: OwnWrites, standby: PostgresStandby? = nil) throws(PostgresError) {
        self.local = local
        let connection = try Self.connect(pool, local)
        state.isListening.store(true, ordering: .releasing)
        standby?.primaryDidRespond()
        queue.async { [state] in Self.run(connection, pool, local, standby, state) }
    }

    deinit {
        state.isOver.store(true, ordering: .relaxed)
    }

    var version: StoreVersion {
        guard state.isListening.load(ordering: .acquiring) else {
            return StoreVersion(high: .max, low: state.changes.add(1, ordering: .relaxed).newValue)
        }
        return StoreVersion(high: local.count, low: state.changes.load(ordering: .acquiring))
    }

    var isListening: Bool { state.isListening.load(ordering: .acquiring) }

    /// The position that a standby must have replayed for reads of items; nil if a change may have been missed.
    var newest: LSN? { state.isListening.load(ordering: .acquiring) ? local.seen?.newest : nil }

    func invalidate() { state.changes.add(1, ordering: .releasing) }

    func suppressingOwn<Value>(_ connection: PostgresConnection, _ body: () throws -> Value) throws -> Value {
        do {
            let value = try body()
            local.seen?.record(connection)
            state.changes.add(1, ordering: .releasing)
            return value
        } catch {
            // The outcome of a commit is unknown if the connection was lost; it may have succeeded.
            if !connection.isAlive { state.changes.add(1, ordering: .releasing) }
            throw error
        }
    }

    private static func connect(_ pool: PostgresPool, _ local: OwnWrites) throws(PostgresError) -> PostgresConnection {
        let connection = try PostgresConnection(pool.address, PostgresSettings(applicationName: "intertwine listener"))
        try PostgresUse.share(connection)
        try connection.execute("LISTEN \(PostgresItemSchema.channel)")
        local.seen?.record(connection)
        return connection
    }

    private static func run(
        _ first: PostgresConnection, _ pool: PostgresPool, _ local: OwnWrites, _ standby: PostgresStandby?, _ state: State
    ) {
        try? listen(first, pool, local, standby, state)
        var pause: UInt32 = 50
        while true {
            state.isListening.store(false, ordering: .releasing)
            standby?.primaryDidVanish()
            guard !state.isOver.load(ordering: .relaxed) else { return }
            usleep(pause * 1_000)
            pause = min(1_000, pause * 2)
            // Readers of the store receive the server's errors.
            let connection: PostgresConnection
            do throws(PostgresError) {
                connection = try connect(pool, local)
            } catch {
                // A refusal is a response.
                if !error.code.isEmpty { pool.pulse?.set(isSilent: false) }
                continue
            }
            pool.pulse?.set(isSilent: false)
            // Changes may have been missed while no session listened.
            state.changes.add(1, ordering: .releasing)
            state.isListening.store(true, ordering: .releasing)
            standby?.primaryDidRespond()
            pause = 50
            try? listen(connection, pool, local, standby, state)
        }
    }

    private static func listen(
        _ connection: PostgresConnection, _ pool: PostgresPool, _ local: OwnWrites, _ standby: PostgresStandby?, _ state: State
    ) throws(PostgresError) {
        while !state.isOver.load(ordering: .relaxed) {
            let backends = try connection.notifications(within: interval)
            if backends.isEmpty {
                guard try connection.awaitResult(within: timeout) else { return pool.pulse?.set(isSilent: true) ?? () }
                standby?.primaryDidRespond()
                continue
            }
            local.seen?.record(connection)
            if !backends.filter({ !pool.isOwn($0) && !local.isOwn($0) }).isEmpty {
                state.changes.add(1, ordering: .releasing)
            }
        }
    }
}
