import Foundation

/// Yields the machine to other programs: threads get a low priority, and a thread that calls ``pause()`` sleeps while others need the
/// processor.
/// Why: the priority alone is not enough. A program that serves many short requests is idle between them. Work that fills each gap evicts
/// its caches and costs context switches. The idle priority of the scheduler (`SCHED_IDLE`) is too low: beside programs that always
/// compute, an import would not progress.
struct Throttle {
    /// The scheduler statistics of the kernel, in nanoseconds.
    struct Schedule {
        var ran, waited: UInt64
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

    private var last: Schedule?

    /// Why: a pool may have raised the priority of its threads after ``yieldToOthers(except:)``.
    init() {
        Self.lowerPriority(of: 0)
        last = Schedule.current
    }

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

    /// The nice value: the kernel then gives a thread about a tenth of the time of another one that always computes.
    private static let niceness: Int32 = 10

    /// The kernel lowers their disk priority accordingly.
    static func yieldToOthers(except other: pid_t?) {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        for thread in threads.compactMap(id_t.init) where pid_t(thread) != other { lowerPriority(of: thread) }
    }

    private static func lowerPriority(of thread: id_t) {
        let target = __priority_which_t(PRIO_PROCESS.rawValue)
        errno = 0
        let current = getpriority(target, thread)
        // A higher value stays, for example that of the command `nice`.
        guard errno == 0, current < niceness, setpriority(target, thread, niceness) != 0, errno != ESRCH else { return }
        Output.printError("the import cannot lower its priority: \(String(cString: strerror(errno)))")
    }
}
