import GRDB
import IntertwineFeed

extension StoreError {
    /// What a failure of SQLite means to a request that is under way.
    init(_ error: DatabaseError) {
        self = .unavailable(error.message ?? "SQLite error \(error.extendedResultCode.rawValue)")
    }

    /// Runs `body`, turning SQLite's failures into ``unavailable(_:)`` and leaving all others as they are.
    static func wrapping<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as DatabaseError {
            throw StoreError(error)
        }
    }
}
