import Dispatch
import Glibc
import Synchronization
import TestSupport

/// Clients that click the same link at several replicas, each time as another viewer, whatever they are answered, until they are told to
/// stop.
final class ClickLoad: Sendable {
    struct Outcome: Sendable {
        /// Viewers whose click was answered as done.
        var done: Set<String> = []
        /// Answers that said to come again later, and those of them that did not say when.
        var refused = 0
        var withoutPause = 0
        /// Answers of another sort.
        var strange: Set<Int> = []
    }

    private let click: String
    private let isOver = Atomic(false)
    private let outcome = Mutex(Outcome())
    private let group = DispatchGroup()

    init(ports: [UInt16], click: String, clients: Int) {
        self.click = click
        for port in ports {
            for client in 0..<clients {
                DispatchQueue(label: "client \(port) \(client)").async(group: group) { [self] in run(port, "\(port)-\(client)") }
            }
        }
    }

    private func run(_ port: UInt16, _ name: String) {
        var connection: RawClient?
        var number = 0
        while !isOver.load(ordering: .relaxed) {
            number += 1
            let viewer = "\(name)-\(number)"
            do {
                let open = try connection ?? RawClient(port: port)
                connection = open
                let answer = try RunningService.ask(open, "GET", click, fields: ["User-Agent: tests", "X-Viewer-ID: \(viewer)"])
                outcome.withLock { outcome in
                    switch answer.status {
                    case 302: outcome.done.insert(viewer)
                    case 503:
                        outcome.refused += 1
                        if answer["retry-after"] == nil { outcome.withoutPause += 1 }
                    default: outcome.strange.insert(answer.status)
                    }
                }
                if answer.closes { connection = nil }
            } catch {
                // An answer that does not come promises nothing. Who is gone may come back.
                connection = nil
                usleep(20_000)
            }
        }
    }

    /// How many clicks were answered as done so far.
    var count: Int { outcome.withLock { $0.done.count } }

    /// The viewers whose click was answered as done so far.
    var done: Set<String> { outcome.withLock { $0.done } }

    var refused: Int { outcome.withLock { $0.refused } }

    /// Ends the clicking, should it go on.
    @discardableResult
    func stop() -> Outcome {
        isOver.store(true, ordering: .relaxed)
        group.wait()
        return outcome.withLock { $0 }
    }
}
