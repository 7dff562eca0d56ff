import Synchronization
import Testing

@testable import IntertwineService

@Suite("Replacement and cancellation of work")
struct CancellableWorkTests {
    private final class Cancelled: Sendable {
        private let list = Mutex<[String]>([])

        var names: [String] { list.withLock { $0 } }

        func add(_ name: String) { list.withLock { $0.append(name) } }
    }

    private let cancelled = Cancelled()

    private func cancel(_ name: String) -> @Sendable () -> Void {
        { [cancelled] in cancelled.add(name) }
    }

    @Test("A cancellation applies to the current work, not to the replaced work")
    func replaced() {
        let work = CancellableWork()
        work.perform { cancel("first") }
        work.perform { cancel("second") }
        work.cancel()
        #expect(cancelled.names == ["second"])
    }

    @Test("A nested replacement during the start of work is the work that is cancelled")
    func nested() {
        let work = CancellableWork()
        work.perform {
            work.perform { cancel("second") }
            return cancel("first")
        }
        work.cancel()
        #expect(cancelled.names == ["second"])
    }

    @Test("Work that begins after the cancellation is cancelled at once")
    func late() {
        let work = CancellableWork()
        work.perform { nil }
        work.cancel()
        #expect(cancelled.names == [])
        work.perform { cancel("late") }
        #expect(cancelled.names == ["late"])
    }
}
