internal import Dispatch
internal import Glibc
internal import Synchronization

extension EventLoop {
    func submit(_ work: Work) {
        enum Signal { case none, kernel, queue }
        let signal = mailbox.withLock { box -> Signal in
            box.work.append(work)
            if box.isSignalled { return .none }
            box.isSignalled = true
            return box.isWaiting ? .kernel : .queue
        }
        switch signal {
        case .none: break
        case .kernel: writeWakeup()
        case .queue: queue.async { self.runWork() }
        }
    }

    /// Runs what other threads have asked for. New work that arrives meanwhile waits for the next call.
    func runWork() {
        var batch = spareWork
        spareWork = []
        mailbox.withLock { box in
            swap(&box.work, &batch)
            box.isSignalled = false
        }
        for work in batch {
            switch work {
            case .closure(let closure): closure()
            case .job(let job): job.runSynchronously(on: asUnownedSerialExecutor())
            }
        }
        batch.removeAll(keepingCapacity: batch.capacity <= 1024)
        spareWork = batch
    }

    /// Announces that the loop is about to wait in the kernel. False where there is work to do first.
    func beginWaiting() -> Bool {
        mailbox.withLock { box in
            guard box.work.isEmpty, !box.isStopped else { return false }
            box.isWaiting = true
            return true
        }
    }

    func endWaiting() {
        mailbox.withLock { $0.isWaiting = false }
    }

    private func writeWakeup() {
        var one: UInt64 = 1
        _ = write(wakeup, &one, 8)
    }
}
