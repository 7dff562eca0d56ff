import Foundation

/// How a program stands back for others on its machine: its threads compute where nobody else wants to, and one that calls ``pause()`` now and then
/// does little where somebody does.
///
/// The lowest priority alone is not enough. Whoever serves many short requests rests for moments between them: what fills each of those empties the
/// caches, and has to be switched away from. The lowest of the usual priorities is worse still: somebody who wakes up beside it waits for its turn to
/// end, some milliseconds.
struct Throttle {
    /// What the kernel has noted, in nanoseconds.
    struct Schedule {
        /// For how long the calling thread ran, and for how long it could have run and did not.
        var ran, waited: UInt64
        /// For how long all threads of the process ran.
        var all: UInt64

        /// Nil where the kernel does not tell.
        static var current: Schedule? {
            // Of proc(5).
            guard let text = try? String(contentsOfFile: "/proc/thread-self/schedstat", encoding: .utf8) else { return nil }
            let numbers = text.split { $0 == " " || $0 == "\n" }.compactMap { UInt64($0) }
            var all = timespec()
            guard numbers.count > 1, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &all) == 0 else { return nil }
            return Schedule(ran: numbers[0], waited: numbers[1], all: UInt64(all.tv_sec) * 1_000_000_000 + UInt64(all.tv_nsec))
        }
    }

    /// How many times as long as it ran a thread rests that waited for others, and for how long at the most, in nanoseconds.
    private static let (rest, longest): (UInt64, UInt64) = (6, 200_000_000)

    private var last = Schedule.current

    /// Rests where the calling thread had to wait for other programs since the last call. On a machine that has time it returns at once.
    mutating func pause() {
        guard let last, let now = Schedule.current else { return }
        // The kernel's two accounts are not kept by one clock.
        let (ran, waited) = (now.ran &- last.ran, now.waited &- last.waited)
        let others = max(now.all &- last.all, ran) - ran
        // What it may have waited for its own process is nobody's loss. Now and then everybody waits.
        if waited > others, waited - others > ran / 8 {
            Thread.sleep(forTimeInterval: Double(min(ran.multipliedReportingOverflow(by: Self.rest).partialValue, Self.longest)) / 1e9)
        }
        self.last = Schedule.current
    }

    /// Has all threads but one, and those that they begin, give way at once to whatever else wakes up.
    static func yieldToOthers(except other: pid_t?) {
        // SCHED_IDLE of <sched.h>, a macro that Swift does not see. Everybody may ask for it.
        let idle: Int32 = 5
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        for thread in [0] + threads.compactMap(pid_t.init) where thread != other {
            var parameters = sched_param()
            // A thread may be over by now.
            guard sched_setscheduler(thread, idle, &parameters) == 0 || errno == ESRCH else {
                return Output.printError("the import cannot give way to others: \(String(cString: strerror(errno)))")
            }
        }
    }
}
