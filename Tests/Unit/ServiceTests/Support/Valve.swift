import Foundation
import Synchronization
import TestSupport

@testable import IntertwineFeed

/// Blocks reads of a store, as a slow store does.
final class Valve: Sendable {
    private let gate: Mutex<Gate>
    private let isBroken = Atomic(false)
    private let arrived = Atomic(0)

    init(isOpen: Bool) {
        let first = Gate()
        if isOpen { first.open() }
        gate = Mutex(first)
    }

    func close() { gate.withLock { $0 = Gate() } }

    /// - Parameter failing: whether all later reads fail.
    func open(failing: Bool = false) {
        isBroken.store(failing, ordering: .relaxed)
        gate.withLock { $0 }.open()
    }

    /// Waits until a number of reads have arrived at the valve. Reads of the service itself do not pass it.
    func reach(_ count: Int) {
        while arrived.load(ordering: .relaxed) < count { usleep(2_000) }
    }

    fileprivate func pass() throws {
        arrived.add(1, ordering: .relaxed)
        gate.withLock { $0 }.wait()
        if isBroken.load(ordering: .relaxed) { throw StoreError.unavailable("the valve is broken") }
    }
}

/// All content; each read waits at the valve in the snapshot.
struct ValvedSource: DataSource {
    let valve: Valve
    private let content = FlatDataSource()

    init(_ valve: Valve) {
        self.valve = valve
    }

    var sections: [FeedSection] { content.sections }

    func query(of section: Int, for context: FeedContext) throws -> ItemQuery? {
        try valve.pass()
        return try content.query(of: section, for: context)
    }
}
