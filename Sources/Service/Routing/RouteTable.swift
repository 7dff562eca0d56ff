internal import Synchronization

/// The routes in force. Replaced as a whole: a request that is being answered goes on with those it found.
final class RouteTable: Sendable {
    /// A class, because a closure that a generic type hands out is wrapped anew each time, on the heap.
    private final class Entry: Sendable {
        let routes: [Route]
        let finished: Router.Canned

        init(_ routes: [Route], _ finished: @escaping Router.Canned) {
            self.routes = routes
            self.finished = finished
        }
    }

    private let entry: Mutex<Entry>

    init(_ routes: [Route], finished: @escaping Router.Canned = { _ in nil }) {
        entry = Mutex(Entry(routes, finished))
    }

    var routes: [Route] { entry.withLock { $0 }.routes }

    var finished: Router.Canned { entry.withLock { $0 }.finished }

    func replace(_ routes: [Route], finished: @escaping Router.Canned) {
        entry.withLock { $0 = Entry(routes, finished) }
    }
}
