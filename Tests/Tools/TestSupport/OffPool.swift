import Foundation

/// Runs blocking test code on a thread of its own, which neither tasks nor Dispatch queues have to do without. What it records
/// belongs to the test that called.
public func offPool<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await Task(executorPreference: ThreadExecutor()) { try body() }.value
}

private final class ThreadExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        Thread.detachNewThread { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
