internal import IntertwineFetch

/// Brings what a transfer says to its flight. Both live on one loop.
final class DownloadDelegate: FetchDelegate {
    private weak let flights: Flights?
    private let number: UInt64

    init(_ flights: Flights, _ number: UInt64) {
        self.flights = flights
        self.number = number
    }

    func fetch(_ id: FetchID, reached stage: FetchStage) {
        let number = number
        flights?.assumeIsolated { $0.reached(stage, number) }
    }

    func fetchRepeats(_ id: FetchID) {
        let number = number
        flights?.assumeIsolated { $0.repeated(number) }
    }

    func fetch(_ id: FetchID, redirectedTo url: FetchURL) -> Bool {
        let number = number
        return flights?.assumeIsolated { $0.redirected(to: url, number) } ?? true
    }

    func fetch(_ id: FetchID, received head: FetchHead) -> Bool {
        let number = number
        return flights?.assumeIsolated { $0.received(head, number) } ?? false
    }

    func fetch(_ id: FetchID, received bytes: UnsafeRawBufferPointer) -> Bool {
        let number = number
        // Safe: the call is synchronous and stays on the thread that owns the bytes.
        nonisolated(unsafe) let bytes = bytes
        return flights?.assumeIsolated { $0.received(bytes, number) } ?? false
    }

    func fetchEnded(_ id: FetchID, _ failure: FetchFailure?) {
        let number = number
        flights?.assumeIsolated { $0.ended(failure, number) }
    }
}
