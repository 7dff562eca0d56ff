internal import CIntertwineLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Starts and reaps worker processes on a thread of its own. Why: both calls may block, and an event loop must not.
///
/// The thread lives as long as this object. Workers request a signal at the death of the thread that started them, so they end with the service.
final class WorkerStarter: Sendable {
    struct Started: Sendable {
        let process: pid_t
        /// The non-blocking socket of the service's side.
        let socket: Int32
    }

    private enum Task: Sendable {
        case start(path: String, @Sendable (Result<Started, StartError>) -> Void)
        case reap(pid_t)
        case stop
    }

    struct StartError: Error, Sendable {
        let number: Int32
    }

    private let queue: Queue

    /// Creates a starter; nil if the thread cannot be created.
    init?() {
        queue = Queue()
        let retained = Unmanaged.passRetained(queue)
        let run: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
            if let context { Unmanaged<Queue>.fromOpaque(context).takeRetainedValue().work() }
        }
        guard clinux_start_thread(256 * 1_024, run, retained.toOpaque()) == 0 else {
            retained.release()
            return nil
        }
    }

    deinit {
        queue.add(.stop)
    }

    /// Starts a worker whose only descriptor is a socket as its standard input. The reply comes on the thread of the starter.
    func start(_ path: String, _ reply: @escaping @Sendable (Result<Started, StartError>) -> Void) {
        queue.add(.start(path: path, reply))
    }

    /// Kills a worker, and reaps it. Call it once for each started worker.
    func discard(_ worker: Started) {
        close(worker.socket)
        kill(worker.process, SIGKILL)
        queue.add(.reap(worker.process))
    }

    private final class Queue: Sendable {
        private let tasks = Mutex<[Task]>([])
        private let bell = DispatchSemaphore(value: 0)

        func add(_ task: Task) {
            tasks.withLock { $0.append(task) }
            bell.signal()
        }

        func work() {
            while true {
                bell.wait()
                switch tasks.withLock({ $0.removeFirst() }) {
                case .start(let path, let reply): reply(Self.start(path))
                case .reap(let process):
                    var status: Int32 = 0
                    while waitpid(process, &status, 0) < 0, errno == EINTR {}
                case .stop: return
                }
            }
        }

        private static func start(_ path: String) -> Result<Started, StartError> {
            var socket: Int32 = -1
            let process = clinux_start_process(path, "work", &socket)
            return process > 0 ? .success(Started(process: process, socket: socket)) : .failure(StartError(number: -process))
        }
    }
}
