import Dispatch
import GRDB

/// Work on the whole file, in order with the groups.
extension GroupCommit {
    /// Writes waiting counts and copies the write-ahead log into the file, after the waiting groups.
    func completeFile() async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        try writeCounts()
                        try pool.completeFile()
                    })
            }
        }
    }

    /// Rewrites the whole file, after the waiting groups. No other write runs in the meantime.
    func vacuum() async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(
                    with: Result {
                        try prepare(isSynced: true, busyTimeout: limits.maxQueueTime)
                        try pool.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
                    })
            }
        }
    }

    /// Writes the waiting counts, so that readers find all of them.
    func flushCounts() async throws {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in
                continuation.resume(with: Result { try writeCounts() })
            }
        }
    }
}
