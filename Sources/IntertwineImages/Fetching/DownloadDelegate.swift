internal import IntertwineFetch

/// A delegate that forwards the events of a transfer to its ``Download``. Both run on the event loop of the coordinator.
final class DownloadDelegate: FetchDelegate {
    private weak let coordinator: ImageFetchCoordinator?
    private let number: UInt64

    init(_ flights: ImageFetchCoordinator, _ number: UInt64) {
        self.coordinator = flights
        self.number = number
    }

    func fetch(_ id: FetchID, reached stage: FetchStage) {
        let number = number
        coordinator?.assumeIsolated { $0.reached(stage, number) }
    }

    func fetchRepeats(_ id: FetchID) {
        let number = number
        coordinator?.assumeIsolated { $0.repeated(number) }
    }

    func fetch(_ id: FetchID, redirectedTo url: FetchURL) -> Bool {
        let number = number
        return coordinator?.assumeIsolated { $0.redirected(to: url, number) } ?? true
    }

    func fetch(_ id: FetchID, received head: FetchHead) -> Bool {
        let number = number
        return coordinator?.assumeIsolated { $0.received(head, number) } ?? false
    }

    func fetch(_ id: FetchID, received bytes: UnsafeRawBufferPointer) -> Bool {
        let number = number
        // Safe: the call is synchronous and stays on the thread that owns the bytes.
        nonisolated(unsafe) let bytes = bytes
        return coordinator?.assumeIsolated { $0.received(bytes, number) } ?? false
    }

    func fetchEnded(_ id: FetchID, _ failure: FetchError?) {
        let number = number
        coordinator?.assumeIsolated { $0.ended(failure, number) }
    }
}
