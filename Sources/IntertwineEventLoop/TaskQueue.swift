/// What other threads have asked a loop to run, and how it learns of that. A state machine without a lock of its own.
struct TaskQueue: Sendable {
    enum Work: Sendable {
        case closure(@Sendable () -> Void)
        case job(UnownedJob)
    }

    /// How the loop is told that there is work.
    enum Signal {
        /// Somebody has told it already.
        case none
        /// It waits in the kernel, and is woken there.
        case kernel
        /// It rests: its queue is to run it.
        case queue
    }

    private var work: [Work] = []
    private var isSignalled = false
    private var isWaiting = false
    private(set) var isStopped = false

    /// Adds work. The answer is what the caller has to do for it.
    mutating func add(_ more: Work) -> Signal {
        work.append(more)
        if isSignalled { return .none }
        isSignalled = true
        return isWaiting ? .kernel : .queue
    }

    /// Exchanges the work for an empty list, whose memory is used again. Work that comes from here on needs another signal.
    mutating func drain(_ empty: inout [Work]) {
        swap(&work, &empty)
        isSignalled = false
    }

    /// Announces that the loop is about to wait in the kernel. False where there is work to do first, or the loop is over.
    mutating func beginWaiting() -> Bool {
        guard work.isEmpty, !isStopped else { return false }
        isWaiting = true
        return true
    }

    mutating func endWaiting() { isWaiting = false }

    /// Whether it was not stopped before.
    mutating func stop() -> Bool {
        defer { isStopped = true }
        return !isStopped
    }
}
