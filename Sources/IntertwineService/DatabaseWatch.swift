internal import Dispatch
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Logging
internal import ServiceLifecycle

/// Checks twice a second for missing, replaced or corrupt database files. Why: writes to such a file are lost.
struct DatabaseWatch: PeriodicService {
    private let monitors: [@Sendable () -> FileChange?]
    private let logger: Logger
    let interval = Duration.milliseconds(500)

    private let queue = DispatchQueue(label: "intertwine.files")

    init(_ checks: [@Sendable () -> FileChange?], logger: Logger) {
        self.monitors = checks
        self.logger = logger
    }

    func perform() async {
        await queue.perform { for check in monitors { report(check()) } }
    }

    private func report(_ change: FileChange?) {
        switch change {
        case .gone(let line): logger.error("a database is missing", metadata: ["reason": "\(line)"])
        case .damaged(let line): logger.error("a database is corrupt", metadata: ["reason": "\(line)"])
        case .back(let line): logger.notice("a database is available again", metadata: ["reason": "\(line)"])
        case nil: break
        }
    }
}

/// Checks a database file for corruption at the start and then once a day.
struct DatabaseCheck: PeriodicService {
    let file: ServedFile
    var interval: Duration { .seconds(86_400) }
    var startsAtOnce: Bool { true }

    func perform() async {
        await withGracefulShutdownHandler {
            // A thread of its own: the check must take none from reads of requests.
            await DispatchQueue(label: "intertwine.check").perform { file.checkContent() }
        } onGracefulShutdown: {
            file.endCheck()
        }
    }
}
