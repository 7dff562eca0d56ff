internal import Dispatch
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Logging

/// Checks twice a second for deleted or replaced database files. Why: writes to such a file are lost.
struct DatabaseWatch: PeriodicService {
    /// Returns the change of a file since the last check; the functions block.
    private let monitors: [@Sendable () -> FileChange?]
    /// Called after a database file is back.
    private let prepare: @Sendable () throws -> Void
    private let logger: Logger
    let interval = Duration.milliseconds(500)

    private let queue = DispatchQueue(label: "intertwine.files")

    init(_ checks: [@Sendable () -> FileChange?], prepare: @escaping @Sendable () throws -> Void, logger: Logger) {
        self.monitors = checks
        self.prepare = prepare
        self.logger = logger
    }

    func perform() async {
        await withCheckedContinuation { continuation in
            queue.async {
                for check in monitors { report(check()) }
                continuation.resume()
            }
        }
    }

    private func report(_ change: FileChange?) {
        switch change {
        case .gone(let line): logger.error("a database is missing", metadata: ["reason": "\(line)"])
        case .damaged(let line): logger.error("a database is corrupt", metadata: ["reason": "\(line)"])
        case .back(let line):
            logger.notice("a database is available again", metadata: ["reason": "\(line)"])
            do { try prepare() } catch {
                logger.error("the items of the store could not be assigned to sections", metadata: ["error": "\(error)"])
            }
        case nil: break
        }
    }
}
