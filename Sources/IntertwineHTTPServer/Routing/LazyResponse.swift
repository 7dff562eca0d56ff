internal import Synchronization

/// Content that is encoded at the first request and cached afterwards. Why: most processes never serve it, so encoding must not delay the start.
package final class LazyResponse: Sendable {
    private let encoded = Mutex<EncodedResponse?>(nil)
    private let make: @Sendable () -> EncodedResponse

    package init(_ make: @escaping @Sendable () -> EncodedResponse) {
        self.make = make
    }

    package var response: EncodedResponse {
        if let response = encoded.withLock({ $0 }) { return response }
        // Encoding runs without the lock. If several threads encode at once, all return the first result.
        let rendered = make()
        return encoded.withLock { cached in
            let response = cached ?? rendered
            cached = response
            return response
        }
    }
}
