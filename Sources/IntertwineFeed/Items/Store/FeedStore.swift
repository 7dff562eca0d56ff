/// A store of the feed's items, implemented in the storage module.
///
/// ```swift
/// let items = try await store.read { snapshot in
///     try snapshot.items(in: .content, .forward, of: nil, limit: 20)
/// }
/// ```
package protocol FeedStore: Sendable {
    /// The current version, which changes with every change of any item by any process.
    ///
    /// Read on every request, on the event loop. The implementation must not block, take a lock that a writer holds, or query the database.
    /// A version read before ``read(_:)`` is never newer than that read's snapshot, so pages cached under it are never stale.
    var version: StoreVersion { get }

    /// Returns true if a page with these dependencies is equal in two versions: only other items were updated in place between them.
    ///
    /// Called on the event loop and must not block, like ``version``. False if the store does not know.
    func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool

    /// Runs `body` on one consistent snapshot of the items, on a thread of the store, where `body` may block for disk access.
    ///
    /// ```swift
    /// let counts = try await store.read(for: .background) { snapshot in
    ///     try snapshot.counts()
    /// }
    /// ```
    ///
    /// - Throws: ``StoreError/unavailable(_:)`` if the store fails, ``StoreError/overloaded`` if too many reads are waiting, or an error of
    ///   `body`.
    func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value
    ) async throws -> Value

    /// Runs `body` on one consistent snapshot and passes the result to a completion handler, for callers without a Swift `Task`.
    ///
    /// ```swift
    /// let cancel = store.read(for: .page) { snapshot in
    ///     try snapshot.item(kind: "user", id: "tt")
    /// } completion: { result in
    ///     print(result)
    /// }
    /// ```
    ///
    /// - Parameter completion: Called once, on any thread, usually the one that read the store; must not block.
    /// - Returns: A function that cancels the read. A read that is still waiting then fails with `CancellationError`.
    func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void

    /// Checks that the store can serve, for `/readyz`.
    ///
    /// - Throws: ``StoreError/unavailable(_:)`` if it cannot.
    func checkReady() async throws
}

/// The purpose of a read, which determines its priority.
package enum ReadPurpose: Sendable {
    /// A client's request.
    case request
    /// A client's request for a page. If its database is away, the store may read an older copy, whose snapshot has an ``StoreSnapshot/age``.
    case page
    /// Long or deferrable work. It never uses all threads of the store at once, so that requests continue beside it.
    case background
    /// Speculative work, such as a prefetch. It runs only if the store is idle, and fails with ``StoreError/overloaded`` otherwise.
    case idle
}

extension FeedStore {
    /// Returns true if the versions are equal, because the store does not know more.
    package func isValid(_ extent: PageDependencies, from old: StoreVersion, to new: StoreVersion) -> Bool { old == new }

    /// Reads for a client's request.
    ///
    /// ```swift
    /// let users = try await store.read { snapshot in
    ///     try snapshot.items(in: .content, .forward, of: nil, limit: 5).filter { $0.kind == "user" }
    /// }
    /// ```
    package func read<Value: Sendable>(_ body: @escaping @Sendable (any StoreSnapshot) throws -> Value) async throws -> Value {
        try await read(for: .request, body)
    }

    /// Runs `body` in a new `Task` and passes the result to `completion`.
    ///
    /// - Returns: A function that cancels the task.
    package func read<Value: Sendable>(
        for purpose: ReadPurpose, _ body: @escaping @Sendable (any StoreSnapshot) throws -> Value,
        completion: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) -> @Sendable () -> Void {
        let task = Task {
            do { completion(.success(try await read(for: purpose, body))) } catch { completion(.failure(error)) }
        }
        return { task.cancel() }
    }

    /// Reads one item of the content.
    ///
    /// - Throws: The error of the read.
    package func checkReady() async throws {
        _ = try await read { try $0.items(in: .content, .forward, of: nil, limit: 1).count }
    }
}

/// A value that identifies the state of a store; equal values mean that nothing changed in between.
package struct StoreVersion: Sendable, Hashable {
    /// The upper half of the version.
    package var high: UInt64
    /// The lower half of the version.
    package var low: UInt64

    /// Creates a version of two numbers, whose meaning the store decides.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }
}

/// An error of a store or a ledger. The text is for operators and logs; clients receive only the status.
package enum StoreError: Error, Sendable, Hashable {
    /// The store cannot answer now (locked, disk full, file missing) but may later: HTTP status 503.
    case unavailable(String)
    /// The connection to the store was lost while it committed a write: it is not known whether the write was done. HTTP status 503.
    case uncertain(String)
    /// More reads are waiting than the configured limit: HTTP status 503 with Retry-After.
    case overloaded
    /// The file is no Intertwine database, is corrupt, or has a newer version: the start fails with this line.
    case unusable(String)
}

extension StoreError {
    /// An error for a unit of work that exceeded its timeout.
    package static let late = StoreError.unavailable("the database did not complete the operation in time")
}

extension StoreError: CustomStringConvertible {
    /// The error as one line for operators.
    package var description: String {
        switch self {
        case .unavailable(let reason), .unusable(let reason): reason
        case .uncertain(let reason): "it is not known whether it was done: \(reason)"
        case .overloaded: "the queue of the disk is full"
        }
    }
}
