internal import CIntertwineLinux
internal import Dispatch
internal import Synchronization

/// Returns freed memory to the system after a burst.
package final class MallocTrimmer: Sendable {
    package static let shared = MallocTrimmer()

    private static let threshold = 16 << 20
    private static let busy = 1 << 20
    /// Seconds after which memory is returned even if the burst continues.
    private static let longestWait = 30

    private let freed = Atomic(0)
    private let isScheduled = Atomic(false)

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
