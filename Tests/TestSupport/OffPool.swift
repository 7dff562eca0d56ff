import Dispatch

/// Runs blocking test code on a thread of its own, so that it never holds up the tasks it waits for.
public func offPool<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "off the pool").async {
            continuation.resume(with: Swift.Result { try body() })
        }
    }
}
