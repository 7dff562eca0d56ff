import Dispatch
import Foundation
import Synchronization
import TestSupport

/// Clients that click as fast as they are answered, each click as another viewer, until the service is gone.
final class ClickStorm: Sendable {
    private let answered = Mutex<Set<String>>([])
    private let enough = DispatchSemaphore(value: 0)
    private let group = DispatchGroup()
    private let wanted = Atomic<Int>(Int.max)

    init(port: UInt16, path: String, clients: Int, round: Int) {
        for client in 0..<clients {
            DispatchQueue(label: "client \(client)").async(group: group) { [self] in
                guard let connection = try? RawClient(port: port) else { return }
                for number in 0... {
                    let viewer = "r\(round)-c\(client)-n\(number)"
                    let fields = ["User-Agent: tests", "X-Viewer-ID: \(viewer)"]
                    guard let response = try? RunningService.ask(connection, "GET", path, fields: fields), response.status == 302 else {
                        return
                    }
                    let count = answered.withLock { set in
                        set.insert(viewer)
                        return set.count
                    }
                    if count == wanted.load(ordering: .relaxed) { enough.signal() }
                    if response.closes { return }
                }
            }
        }
    }

    /// Waits until so many clicks have been answered.
    func untilAnswered(_ count: Int) {
        wanted.store(count, ordering: .relaxed)
        if answered.withLock({ $0.count >= count }) { return }
        _ = enough.wait(timeout: .now() + 30)
    }

    /// The viewers whose clicks were answered, once all clients have noticed that the service is gone.
    func finish() -> Set<String> {
        group.wait()
        return answered.withLock { $0 }
    }
}
