internal import Synchronization

/// The routes in force. Replaced as a whole: a request that is being answered goes on with those it found.
final class RouteTable: Sendable {
    private struct State {
        /// By the number of segments of their paths.
        var resources: [Int: [Resource]]
        var finished: Router.Canned?
    }

    private let state: Mutex<State>

    init(_ routes: [Route], finished: Router.Canned? = nil) {
        state = Mutex(State(resources: Self.sorted(routes), finished: finished))
    }

    private static func sorted(_ routes: [Route]) -> [Int: [Resource]] {
        Dictionary(grouping: Resource.all(routes), by: \.length)
    }

    /// The resource that a path means, or nil where there is none.
    func resource(at path: [Substring]) -> Resource? {
        let resources = state.withLock { $0.resources[path.count] }
        return resources?.first { $0.matches(path) }
    }

    var finished: Router.Canned? { state.withLock { $0.finished } }

    func replace(_ routes: [Route], finished: Router.Canned?) {
        let resources = Self.sorted(routes)
        state.withLock { $0 = State(resources: resources, finished: finished) }
    }
}
