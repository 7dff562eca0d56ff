internal import CIntertwineLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Starts processes on a thread of its own, and sees them off there: both may take a moment, and a loop does not wait.
///
/// The thread lives as long as this does. A worker asks the kernel to end with the thread that started it, and so ends with the service.
final class WorkerStarter: Sendable {
    struct Started: Sendable {
        let process: pid_t
        /// Our end of the socket pair, which does not block.
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

    /// Nil where the system gives no thread.
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

    /// Starts a worker with nothing but a socket to us, which is its standard input. The answer comes from another thread.
    func start(_ path: String, _ reply: @escaping @Sendable (Result<Started, StartError>) -> Void) {
        queue.add(.start(path: path, reply))
    }

    /// Ends a worker, whatever it is doing, and waits for it to be gone. Once for each that was started.
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
