internal import CIntertwineLinux
internal import Dispatch
internal import Synchronization

/// Returns freed memory to the system after a burst. Without it the allocator keeps the memory, and the process stays at its peak size.
///
/// May be used on any thread.
package final class MallocTrimmer: Sendable {
    /// The trimmer of the process.
    package static let shared = MallocTrimmer()

    /// Bytes freed before a trim is worth its cost.
    private static let threshold = 16 << 20
    /// Bytes freed in one second above which the burst is considered to continue.
    private static let busy = 1 << 20
    /// Seconds after which memory is returned even if the burst continues.
    private static let longestWait = 30

    private let freed = Atomic(0)
    private let isScheduled = Atomic(false)

    /// Records that bytes were freed. If the sum is large, another thread returns the memory within two seconds after the burst ends.
    package func recordFreed(_ bytes: Int) {
        let sum = freed.add(bytes, ordering: .relaxed).newValue
        if sum >= Self.threshold, !isScheduled.exchange(true, ordering: .acquiringAndReleasing) { check(after: sum, seconds: 1) }
    }

    private func check(after before: Int, seconds: Int) {
        DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + 1) { [self] in
            let sum = freed.load(ordering: .relaxed)
            if sum - before >= Self.busy, seconds < Self.longestWait { return check(after: sum, seconds: seconds + 1) }
            freed.subtract(sum, ordering: .relaxed)
            isScheduled.store(false, ordering: .releasing)
            clinux_trim()
        }
    }
}
