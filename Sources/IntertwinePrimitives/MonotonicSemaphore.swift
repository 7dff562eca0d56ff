internal import CIntertwineLinux
internal import Glibc

/// Why: on Linux, a timed wait of `DispatchSemaphore` ends at a time of day. If the clock is set back during the wait, the wait lasts
/// longer by the same amount.
/// `@unchecked Sendable`: the calls on the memory are safe on any thread, and the pointer never changes.
package final class MonotonicSemaphore: @unchecked Sendable {
    private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

    package init() { sem_init(semaphore, 0, 0) }

    deinit {
        sem_destroy(semaphore)
        semaphore.deallocate()
    }

    package func signal() { sem_post(semaphore) }

    package func wait() {
        // The call fails only if a signal interrupts it.
        while sem_wait(semaphore) != 0 {}
    }

    package func wait(for time: Duration) -> Bool {
        clinux_semaphore_wait(semaphore, Int64(clamping: max(0, time.attoseconds / 1_000_000_000)))
    }
}
