package protocol FeedStore: Sendable {
    /// The implementation must not block, take a lock that a writer holds, or query the database. A version read before ``read(_:)`` is
    /// never newer than that read's snapshot, so pages cached under it are never stale.
    var version: StoreVersion { get }

    /// Called on the event loop and must not block, like ``version``.
    func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool

    /// Runs `body` on one consistent snapshot of the items, on a thread of the store, where `body` may block for disk access.
    func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value
    ) async throws -> Value

    /// `completion`: Called once, on any thread, usually the one that read the store; must not block.
    func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void

    func checkReady() async throws
}

package enum ReadPurpose: Sendable {
    case request
    case page
    /// It never uses all threads of the store at once, so that requests continue beside it.
    case background
    /// It runs only if the store is idle, and fails with ``StoreError/overloaded`` otherwise.
    case idle
}

extension FeedStore {
    /// Returns true if the versions are equal, because the store does not know more.
    package func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool { old == new }

    package func read<Value: Sendable>(_ body: @escaping @Sendable (any StoreSnapshot) throws -> Value) async throws -> Value {
        try await read(for: .request, body)
    }

    package func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void {
        let task = Task {
            do { completion(.success(try await read(for: purpose, body))) } catch { completion(.failure(error)) }
        }
        return { task.cancel() }
    }

    package func checkReady() async throws {
        _ = try await read { try $0.items(in: .content, .forward, of: nil, limit: 1).count }
    }
}

/// A value that identifies the state of a store; equal values mean that nothing changed in between.
package struct StoreVersion: Sendable, Hashable {
    package var high: UInt64
    package var low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

package enum StoreError: Error, Sendable, Hashable {
    case unavailable(String)
    case uncertain(String)
    case overloaded
    case unusable(String)
}

extension StoreError {
    package static let late = StoreError.unavailable("the database did not complete the operation in time")
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unavailable(let reason), .unusable(let reason): reason
        case .uncertain(let reason): "it is not known whether it was done: \(reason)"
        case .overloaded: "the queue of the disk is full"
        }
    }
}
