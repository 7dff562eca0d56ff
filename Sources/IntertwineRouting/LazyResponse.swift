package import IntertwineHTTPServer
internal import Synchronization

/// Content that is finished when somebody first asks for it, and lies ready from then on: a start need not wait for what most processes are
/// never asked for.
package final class LazyResponse: Sendable {
    private let encoded = Mutex<EncodedResponse?>(nil)
    private let make: @Sendable () -> EncodedResponse

    package init(_ make: @escaping @Sendable () -> EncodedResponse) {
        self.make = make
    }

    package var response: EncodedResponse {
        if let response = encoded.withLock({ $0 }) { return response }
        // Nobody waits at the lock meanwhile. Of those who make it at once, all give the same one.
        let made = make()
        return encoded.withLock { finished in
            let response = finished ?? made
            finished = response
            return response
        }
    }
}
