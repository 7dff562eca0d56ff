import Dispatch
import Synchronization
import TestSupport

/// Connections that write at the same time, each on a separate thread. Blocking.
///
/// `@unchecked Sendable`: each connection is used by one thread at a time.
final class Writers: @unchecked Sendable {
    private let connections: [RawClient]

    init(_ connections: [RawClient]) {
        self.connections = connections
    }

    /// Returns the result of each write; -1 if it threw an error.
    func all(_ write: @escaping @Sendable (RawClient, Int) throws -> Int) -> [Int] {
        let results = Mutex<[Int]>([])
        let (start, group) = (DispatchSemaphore(value: 0), DispatchGroup())
        for number in connections.indices {
            DispatchQueue(label: "writer \(number)").async(group: group) { [self] in
                start.wait()
                let result = (try? write(connections[number], number)) ?? -1
                results.withLock { $0.append(result) }
            }
        }
        for _ in connections { start.signal() }
        group.wait()
        return results.withLock { $0 }
    }
}
