internal import Synchronization

/// The routes in force. Replaced as a whole: a request that is being answered goes on with those it found.
final class RouteTable: Sendable {
    private struct State {
        var routes: [Route]
        var finished: Router.Canned?
    }

    private let state: Mutex<State>

    init(_ routes: [Route], finished: Router.Canned? = nil) {
        state = Mutex(State(routes: routes, finished: finished))
    }

    var routes: [Route] { state.withLock { $0.routes } }

    var finished: Router.Canned? { state.withLock { $0.finished } }

    func replace(_ routes: [Route], finished: Router.Canned?) {
        state.withLock { $0 = State(routes: routes, finished: finished) }
    }
}
