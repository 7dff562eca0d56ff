import TestSupport
import Testing

@testable import IntertwineImages

@Suite("Fetch attempt: waiters and cancellation")
struct FetchAttemptTests {
    private static let running: [FetchAttempt.Stage] = [.lookup, .queued, .resolving, .connecting, .headers, .body]

    private func flight(at stage: FetchAttempt.Stage, isOwned: Bool = false, waiters: Int = 1) -> FetchAttempt {
        var flight = FetchAttempt(isOwned: isOwned)
        for waiter in 0..<waiters { _ = flight.join(UInt64(waiter), .visible) }
        _ = flight.reach(stage)
        flight.expect(1_000_000)
        return flight
    }

    @Test("The last cancelled waiter starts the grace period, whose end cancels the transfer at every stage", arguments: running)
    func lastLeaves(_ stage: FetchAttempt.Stage) {
        var flight = flight(at: stage, waiters: 2)
        #expect(flight.cancel(0) == [])
        #expect(flight.cancel(1) == (stage == .body ? [.startGrace, .pause] : [.startGrace]))
        #expect(flight.cancel(1) == [])
        #expect(flight.graceOver() == [.abort(stage)])
        #expect(flight.stage == .cancelled)
        #expect(flight.graceOver() == [])
        #expect(flight.join(2, .visible) == nil)
    }

    @Test("A waiter within the grace period revives the attempt at every stage", arguments: running)
    func rejoin(_ stage: FetchAttempt.Stage) {
        var flight = flight(at: stage)
        _ = flight.cancel(0)
        #expect(flight.join(1, .near) == (stage == .body ? [.stopGrace, .resume] : [.stopGrace]))
        #expect(flight.graceOver() == [])
        #expect(flight.stage == stage)
    }

    @Test(
        "A nearly complete transfer is finished",
        arguments: [
            (800_000, 1_000_000, true), (799_999, 1_000_000, false), (0, 32 * 1_024, true), (0, 32 * 1_024 + 1, false),
            (1, 8_000_000, false),
        ])
    func nearlyDone(_ received: Int, _ expected: Int, _ finishes: Bool) {
        var flight = flight(at: .body)
        flight.expect(expected)
        flight.receive(received)
        let effects = flight.cancel(0)
        #expect(effects == (finishes ? [.startGrace] : [.startGrace, .pause]))
        #expect(flight.graceOver() == (finishes ? [] : [.abort(.body)]))
    }

    @Test("A body of unknown length is never nearly done")
    func unknownLength() {
        var flight = flight(at: .body)
        flight.expect(nil)
        flight.receive(5_000_000)
        _ = flight.cancel(0)
        #expect(flight.graceOver() == [.abort(.body)])
    }

    @Test("A body that begins during the grace period is not read")
    func bodyInGrace() {
        var flight = flight(at: .headers)
        #expect(flight.cancel(0) == [.startGrace])
        #expect(flight.reach(.body) == [.pause])
        #expect(flight.join(1, .visible) == [.stopGrace, .resume])
    }

    @Test("A background revalidation continues without waiters")
    func owned() {
        var flight = flight(at: .body, isOwned: true)
        #expect(flight.cancel(0) == [])
        #expect(flight.graceOver() == [])
        #expect(flight.stage == .body)
    }

    @Test("An attempt has the priority of its most urgent waiter")
    func priority() {
        var flight = FetchAttempt()
        _ = flight.join(1, .prefetch)
        #expect(flight.priority == .prefetch)
        _ = flight.join(2, .visible)
        #expect(flight.priority == .visible)
        flight.setPriority(.near, of: 2)
        #expect(flight.priority == .near)
        _ = flight.cancel(2)
        #expect(flight.priority == .prefetch)
    }

    @Test("In any sequence an attempt with waiters is not cancelled, and one without is not read beyond the grace period")
    func anySequence() {
        var generator = SeededRandom(seed: 21)
        for _ in 0..<2_000 {
            var flight = FetchAttempt()
            var inside: Set<UInt64> = []
            var isPaused = false
            for step in 0..<30 {
                var effects: [FetchAttempt.Effect] = []
                let waiter = UInt64.random(in: 0..<4, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0:
                    if let joined = flight.join(waiter, .visible) {
                        inside.insert(waiter)
                        effects = joined
                    }
                case 1:
                    inside.remove(waiter)
                    effects = flight.cancel(waiter)
                case 2: effects = flight.reach(Self.running.randomElement(using: &generator) ?? .body)
                case 3: effects = flight.graceOver()
                default: flight.receive(step)
                }
                for effect in effects {
                    switch effect {
                    case .abort: #expect(inside.isEmpty)
                    case .pause: isPaused = true
                    case .resume: isPaused = false
                    default: break
                    }
                }
                #expect(Set(flight.waiters.keys) == inside)
                if !inside.isEmpty { #expect(!isPaused && !flight.stage.isOver) }
            }
        }
    }
}
