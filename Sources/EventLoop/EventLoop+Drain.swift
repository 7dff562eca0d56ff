internal import CLinux
internal import Glibc
internal import Synchronization

extension EventLoop {
    /// Tokens of the loop's own descriptors. Generations of registrations start at 1, so these can not be one of them.
    static let timerToken: UInt64 = 0
    static let wakeupToken: UInt64 = 1

    /// How long a loop that was busy just now waits for more before it goes back to Dispatch.
    private static let lingerMilliseconds: Int32 = 4
    /// After so many batches the loop goes back to Dispatch even if there is more to do.
    private static let batchesPerTurn = 100_000

    /// Serves ready descriptors until none has become ready for a while.
    func drain() {
        for _ in 0..<Self.batchesPerTurn {
            runWork()
            // With work that has come meanwhile there is a look at the descriptors all the same, and no waiting for them.
            let mayWait = beginWaiting()
            if !mayWait, isStopped { return }
            let count = clinux_epoll_wait(epoll, events.baseAddress, Int32(events.count), mayWait ? Self.lingerMilliseconds : 0)
            if mayWait {
                endWaiting()
                if count == 0 { break }
            }
            if count > 0 { deliver(Int(count)) }
        }
        runWork()
    }

    private var isStopped: Bool { mailbox.withLock { $0.isStopped } }

    private func deliver(_ count: Int) {
        now = .now()
        var timersAreDue = false
        for index in 0..<min(count, events.count) {
            let token = clinux_event_token(&events[index])
            switch token {
            case Self.timerToken: timersAreDue = true
            case Self.wakeupToken: clear(wakeup)
            default:
                registrations.handler(of: Registration(token: token))?.ready(ReadyEvents(rawValue: clinux_event_bits(&events[index])))
            }
        }
        if timersAreDue {
            clear(timer)
            runTimers()
        }
    }

    private func clear(_ descriptor: Int32) {
        var value: UInt64 = 0
        _ = read(descriptor, &value, 8)
    }
}
