internal import Synchronization

/// The routes in force. Replaced as a whole: a request that is being answered goes on with those it found.
final class RouteTable: Sendable {
    /// A class, because a closure that a generic type hands out is wrapped anew each time, on the heap.
    private final class Entry: Sendable {
        /// By the number of segments of their paths.
        let resources: [Int: [Resource]]
        let finished: Router.Canned
        let deferred: Router.Deferred

        init(_ routes: [Route], _ finished: @escaping Router.Canned, _ deferred: @escaping Router.Deferred) {
            resources = Dictionary(grouping: Resource.all(routes), by: \.length)
            self.finished = finished
            self.deferred = deferred
        }
    }

    private let entry: Mutex<Entry>

    init(_ routes: [Route], finished: @escaping Router.Canned = { _ in nil }, deferred: @escaping Router.Deferred = { _, _, _ in nil }) {
        entry = Mutex(Entry(routes, finished, deferred))
    }

    /// The resource that a path means, or nil where there is none.
    func resource(at path: [Substring]) -> Resource? {
        entry.withLock { $0 }.resources[path.count]?.first { $0.matches(path) }
    }

    /// Looks up answers that are ready.
    var finished: Router.Canned { entry.withLock { $0 }.finished }

    /// Has answers begun that no task waits for.
    var deferred: Router.Deferred { entry.withLock { $0 }.deferred }

    func replace(_ routes: [Route], finished: @escaping Router.Canned, deferred: @escaping Router.Deferred) {
        let next = Entry(routes, finished, deferred)
        entry.withLock { $0 = next }
    }
}
