internal import CIntertwineLinux
internal import Dispatch
internal import Glibc
internal import IntertwineHTTPServer
internal import Synchronization

/// Starts and reaps worker processes on a thread of its own. Why: both calls may block, and an event loop must not.
/// Workers request a signal at the death of the thread that started them, so they end with the service.
final class WorkerStarter: Sendable {
    struct Started: Sendable {
        let process: pid_t
        let socket: Int32
    }

    struct StartError: Error, Sendable {
        let number: Int32
    }

    private final class TaskQueue: Sendable {
        private let tasks = Mutex<[(@Sendable () -> Void)?]>([])
        private let bell = DispatchSemaphore(value: 0)

        func add(_ task: (@Sendable () -> Void)?) {
            tasks.withLock { $0.append(task) }
            bell.signal()
        }

        func next() -> (@Sendable () -> Void)? {
            bell.wait()
            return tasks.withLock { $0.removeFirst() }
        }
    }

    private let queue: TaskQueue

    init?() {
        let queue = TaskQueue()
        self.queue = queue
        guard DetachedThread.start(stackBytes: 256 * 1_024, { while let task = queue.next() { task() } }) else { return nil }
    }

    deinit {
        queue.add(nil)
    }

    func start(_ path: String, memory: Int, _ reply: @escaping @Sendable (Result<Started, StartError>) -> Void) {
        queue.add {
            var socket: Int32 = -1
            let process = clinux_start_process(path, "\(memory)", &socket)
            reply(process > 0 ? .success(Started(process: process, socket: socket)) : .failure(StartError(number: -process)))
        }
    }

    /// Call it once for each started worker.
    func discard(_ worker: Started) {
        close(worker.socket)
        kill(worker.process, SIGKILL)
        queue.add {
            var status: Int32 = 0
            while waitpid(worker.process, &status, 0) < 0, errno == EINTR {}
        }
    }
}
