package import IntertwineFeed

package protocol DatabaseFailure: Error {
    var storeError: StoreError { get }
}

extension StoreError {
    package static func wrapping<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as any DatabaseFailure {
            throw error.storeError
        }
    }

    package static func wrappingBlocking<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as any DatabaseFailure {
            throw error.storeError
        }
    }
}
