/// A queue of work that other threads submit to a loop, with the loop's wake-up state. It is a state machine without a lock.
struct TaskQueue: Sendable {
    enum Work: Sendable {
        case closure(@Sendable () -> Void)
        case job(UnownedJob)
    }

    /// The way to notify the loop of new work.
    enum Signal {
        /// No notification is needed: an earlier one is pending.
        case none
        /// The loop waits in the kernel and is woken there.
        case kernel
        /// The loop is idle; its Dispatch queue must run it.
        case queue
    }

    private var work: [Work] = []
    private var isSignalled = false
    private var isWaiting = false
    private(set) var isStopped = false

    /// Adds work and returns the notification that the caller must send.
    mutating func add(_ more: Work) -> Signal {
        work.append(more)
        if isSignalled { return .none }
        isSignalled = true
        return isWaiting ? .kernel : .queue
    }

    /// Exchanges the list of work for an empty list, whose memory is reused. Work that is added later needs another notification.
    mutating func drain(_ empty: inout [Work]) {
        swap(&work, &empty)
        isSignalled = false
    }

    /// Records that the loop is about to wait in the kernel. Returns false if work is pending or the loop has stopped.
    mutating func beginWaiting() -> Bool {
        guard work.isEmpty, !isStopped else { return false }
        isWaiting = true
        return true
    }

    mutating func endWaiting() { isWaiting = false }

    /// Stops the queue. Returns true if it was not stopped before.
    mutating func stop() -> Bool {
        defer { isStopped = true }
        return !isStopped
    }
}
