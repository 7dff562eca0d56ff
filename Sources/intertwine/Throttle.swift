import Foundation

/// Yields the machine to other programs: threads get the lowest priority, and a thread that calls ``pause()`` sleeps while others need the
/// processor.
///
/// Why: the lowest priority alone is not enough. A program that serves many short requests is idle between them. Work that fills each gap
/// evicts its caches and costs context switches. The lowest of the usual priorities is worse: a thread that wakes up waits some milliseconds
/// for the end of the other's time slice.
struct Throttle {
    /// The scheduler statistics of the kernel, in nanoseconds.
    struct Schedule {
        /// The time for which the calling thread ran, and the time for which it was ready but did not run.
        var ran, waited: UInt64
        /// The time for which all threads of the process ran.
        var all: UInt64

        /// The current statistics; nil if the kernel does not provide them.
        static var current: Schedule? {
            // The format is described in proc(5).
            guard let text = try? String(contentsOfFile: "/proc/thread-self/schedstat", encoding: .utf8) else { return nil }
            let numbers = text.split { $0 == " " || $0 == "\n" }.compactMap { UInt64($0) }
            var all = timespec()
            guard numbers.count > 1, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all) == 0 else { return nil }
            return Schedule(ran: numbers[0], waited: numbers[1], all: UInt64(all.tv_sec) * 1_000_000_000 + UInt64(all.tv_nsec))
        }
    }

    /// The sleep after contention as a multiple of the run time, and its maximum in nanoseconds.
    private static let (rest, longest): (UInt64, UInt64) = (6, 200_000_000)

    private var last = Schedule.current

    /// Sleeps if the calling thread had to wait for other programs since the last call. Returns at once on an idle machine.
    mutating func pause() {
        guard let last, let now = Schedule.current else { return }
        // The two values of the kernel use different clocks.
        let (ran, waited) = (now.ran &- last.ran, now.waited &- last.waited)
        let others = max(now.all &- last.all, ran) - ran
        // Waiting for threads of this process is subtracted, and short waits are ignored as normal.
        if waited > others, waited - others > ran / 8 {
            Thread.sleep(forTimeInterval: Double(min(ran.multipliedReportingOverflow(by: Self.rest).partialValue, Self.longest)) / 1e9)
        }
        self.last = Schedule.current
    }

    /// Sets the idle priority for all threads but one, and for threads that they create, so that they yield at once to any other thread.
    static func yieldToOthers(except other: pid_t?) {
        // The constant is SCHED_IDLE of <sched.h>, a macro that Swift does not import. Every user may set this priority.
        let idle: Int32 = 5
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        for thread in [0] + threads.compactMap(pid_t.init) where thread != other {
            var parameters = sched_param()
            // The thread may have ended in the meantime.
            guard sched_setscheduler(thread, idle, &parameters) == 0 || errno == ESRCH else {
                return Output.printError("the import cannot lower its priority: \(String(cString: strerror(errno)))")
            }
        }
    }
}
