package import Dispatch

extension DispatchQueue {
    /// Runs blocking work on a thread that may block, so that it delays no task.
    package func perform<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        try await withCheckedContinuation { continuation in
            async { continuation.resume(returning: Result { () throws(Failure) in try work() }) }
        }.get()
    }
}
