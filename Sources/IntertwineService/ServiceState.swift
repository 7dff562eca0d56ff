internal import Synchronization

/// Whether the service is on its way out.
final class ServiceState: Sendable {
    private let draining = Atomic(false)

    var isDraining: Bool { draining.load(ordering: .relaxed) }

    func drain() {
        draining.store(true, ordering: .relaxed)
    }
}
