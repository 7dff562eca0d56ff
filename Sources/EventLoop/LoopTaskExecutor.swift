/// Runs tasks on an ``EventLoop``, for work that is done sooner than it would be handed to another thread.
///
/// What blocks, or takes long, must not be run by it: everything else on the loop waits meanwhile.
public final class LoopTaskExecutor: TaskExecutor {
    private let loop: EventLoop

    public init(_ loop: EventLoop) {
        self.loop = loop
    }

    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
