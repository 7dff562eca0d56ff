import Dispatch
import GRDB
internal import IntertwineFeed
import Synchronization

/// `@unchecked Sendable`: the state is behind a lock, and connections are used on the serial queue alone.
final class WriteQueue: @unchecked Sendable {
    private struct Unit: Sendable {
        var run: @Sendable (Database, inout ChangeLogEntry) throws -> @Sendable () -> Void
        var fail: @Sendable (any Error) -> Void
    }

    private static let largestGroup = 128
    private static let mostWaiting = 4_096

    private let queue = DispatchQueue(label: "intertwine.items.write")
    private let waiting = Mutex<(units: [Unit], isRunning: Bool)>(([], false))
    private let pool: DatabasePool
    private let file: ServedFile
    private let version: @Sendable () -> StoreVersion
    private let history: ChangeLog

    init(_ pool: DatabasePool, _ file: ServedFile, version: @escaping @Sendable () -> StoreVersion, history: ChangeLog) {
        (self.pool, self.file, self.version, self.history) = (pool, file, version, history)
    }

    func write<Value: Sendable>(_ body: @escaping @Sendable (Database, inout ChangeLogEntry) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let unit = Unit { database, note in
                let value = try body(database, &note)
                return { continuation.resume(returning: value) }
            } fail: { error in
                continuation.resume(throwing: error)
            }
            let mustStart: Bool? = waiting.withLock { waiting in
                guard waiting.units.count < Self.mostWaiting else { return nil }
                waiting.units.append(unit)
                defer { waiting.isRunning = true }
                return !waiting.isRunning
            }
            guard let mustStart else { return unit.fail(StoreError.overloaded) }
            if mustStart { queue.async { self.drain() } }
        }
    }

    private func drain() {
        while let group = next() { commit(group) }
    }

    private func next() -> ArraySlice<Unit>? {
        waiting.withLock { waiting in
            guard !waiting.units.isEmpty else {
                waiting.isRunning = false
                return nil
            }
            let group = waiting.units.prefix(Self.largestGroup)
            waiting.units.removeFirst(group.count)
            return group
        }
    }

    private func commit(_ group: ArraySlice<Unit>) {
        var done: [Result<@Sendable () -> Void, any Error>] = []
        do {
            try file.writing {
                try pool.writeWithoutTransaction { database in
                    var note = ChangeLogEntry()
                    var before: StoreVersion?
                    try database.inTransaction(.immediate) {
                        // The transaction holds the write lock, so no other process commits after this read.
                        before = version()
                        for unit in group { done.append(try Self.run(unit, database, &note)) }
                        return done.contains { if case .success = $0 { true } else { false } } ? .commit : .rollback
                    }
                    if let before { history.record(note, from: before, to: version()) }
                }
            }
        } catch {
            done = group.map { _ in .failure(error) }
        }
        for (unit, result) in zip(group, done) {
            switch result {
            case .success(let succeed): succeed()
            case .failure(let error): unit.fail(error)
            }
        }
    }

    private static func run(
        _ unit: Unit, _ database: Database, _ note: inout ChangeLogEntry
    ) throws -> Result<@Sendable () -> Void, any Error> {
        do {
            var succeed: (@Sendable () -> Void)?
            try database.inSavepoint {
                succeed = try unit.run(database, &note)
                return .commit
            }
            return succeed.map { .success($0) } ?? .failure(StoreError.unavailable("the write was not performed"))
        } catch {
            guard database.isInsideTransaction else { throw error }
            return .failure(error)
        }
    }
}
