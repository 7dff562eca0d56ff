struct TaskQueue: Sendable {
    enum Work: Sendable {
        case closure(@Sendable () -> Void)
        case job(UnownedJob)
    }

    enum Signal {
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

    mutating func drain(_ empty: inout [Work]) {
        swap(&work, &empty)
        isSignalled = false
    }

    /// Records that the loop is about to wait in the kernel.
    mutating func beginWaiting() -> Bool {
        guard work.isEmpty, !isStopped else { return false }
        isWaiting = true
        return true
    }

    mutating func endWaiting() { isWaiting = false }

    mutating func stop() -> Bool {
        defer { isStopped = true }
        return !isStopped
    }
}
