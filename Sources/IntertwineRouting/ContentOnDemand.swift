package import IntertwineHTTPServer
internal import Synchronization

/// Content that is finished when somebody first asks for it, and lies ready from then on: a start need not wait for what most processes are
/// never asked for.
package final class ContentOnDemand: Sendable {
    private let finished = Mutex<FinishedResponse?>(nil)
    private let make: @Sendable () -> FinishedResponse

    package init(_ make: @escaping @Sendable () -> FinishedResponse) {
        self.make = make
    }

    package var response: FinishedResponse {
        if let response = finished.withLock({ $0 }) { return response }
        // Nobody waits at the lock meanwhile. Of those who make it at once, all give the same one.
        let made = make()
        return finished.withLock { finished in
            let response = finished ?? made
            finished = response
            return response
        }
    }
}
