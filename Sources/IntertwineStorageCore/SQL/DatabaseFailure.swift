package import IntertwineFeed

/// An error of a database or of the connection to it.
package protocol DatabaseFailure: Error {
    /// The error for a request in progress that meets this failure.
    var storeError: StoreError { get }
}

extension StoreError {
    /// Runs `body`, converts failures of the database to `StoreError`, and rethrows all other errors.
    package static func wrapping<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as any DatabaseFailure {
            throw error.storeError
        }
    }

    /// Runs `body` as ``wrapping(_:)`` does, for callers without a task.
    package static func wrappingBlocking<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as any DatabaseFailure {
            throw error.storeError
        }
    }
}
