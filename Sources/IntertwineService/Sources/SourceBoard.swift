internal import Synchronization

/// How all sources are doing, and who wants one of them synchronised now.
final class SourceBoard: Sendable {
    private struct Place {
        var state: SourceState
        var isWished = false
        /// What the source's task waits in.
        var nap: Task<Void, Never>?
    }

    private let places: Mutex<[String: Place]>

    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    init(_ names: [String], now: Int64) {
        places = Mutex(Dictionary(names.map { ($0, Place(state: SourceState(since: now))) }, uniquingKeysWith: { first, _ in first }))
    }

    subscript(name: String) -> SourceState? {
        places.withLock { $0[name]?.state }
    }

    func update(_ name: String, _ body: (inout SourceState) -> Void) {
        places.withLock { places in
            guard var place = places[name] else { return }
            body(&place.state)
            places[name] = place
        }
    }

    /// Has a source synchronised now, or once more where that is under way. False where there is no such source.
    func wish(_ name: String) -> Bool {
        places.withLock { places in
            guard let place = places[name] else { return false }
            places[name]?.isWished = true
            place.nap?.cancel()
            return true
        }
    }

    /// Waits, until somebody wishes or the caller's task is cancelled.
    ///
    /// - Returns: whether somebody wished.
    func rest(_ name: String, for duration: Duration) async -> Bool {
        let nap = Task { _ = try? await Task.sleep(for: duration) }
        places.withLock { places in
            places[name]?.nap = nap
            if places[name]?.isWished == true { nap.cancel() }
        }
        await withTaskCancellationHandler {
            await nap.value
        } onCancel: {
            nap.cancel()
        }
        return places.withLock { places in
            places[name]?.nap = nil
            defer { places[name]?.isWished = false }
            return places[name]?.isWished ?? false
        }
    }
}
