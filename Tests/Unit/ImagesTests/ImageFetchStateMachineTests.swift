import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineImages

@Suite("State machine of fetches, with events in any order", .timeLimit(.untilStuck))
struct ImageFetchStateMachineTests {
    /// What happens around one image, for two who want it.
    enum Event: CaseIterable {
        case first, second, firstLeaves, secondLeaves
        case named, unnamed, head, refusal, half, rest, end, loss, due
    }

    @Test("In every order of events each waiter gets one response, and no state remains")
    func orders() throws {
        var sequences = 0
        func go(_ events: [Event], _ length: Int) throws {
            if !events.isEmpty {
                // What cannot happen now need not be followed any further.
                let world = try World()
                for event in events.dropLast() { _ = world.happen(event) }
                guard let last = events.last, world.happen(last) else { return }
                sequences += 1
                try world.clearUp("\(events)")
            }
            guard events.count < length else { return }
            for event in Event.allCases { try go(events + [event], length) }
        }
        try go([], 4)
        #expect(sequences > 100)
    }

    @Test("Longer random sequences", arguments: 0..<8)
    func chance(seed: Int) throws {
        var generator = SeededRandom(seed: UInt64(seed) + 1)
        for _ in 0..<100 {
            let world = try World()
            var story: [Event] = []
            for _ in 0..<40 {
                guard let event = Event.allCases.randomElement(using: &generator), world.happen(event) else { continue }
                story.append(event)
            }
            try world.clearUp("\(story)")
        }
    }

    @Test("A waiter within the grace period joins the attempt; after it a new one starts")
    func grace() throws {
        let world = try World()
        for event in [Event.first, .named, .head, .half, .firstLeaves] { #expect(world.happen(event)) }
        #expect(world.timers.contains(.grace) && world.isPaused && world.fetches == 1)
        #expect(world.happen(.second) && !world.timers.contains(.grace) && !world.isPaused)
        for event in [Event.rest, .end] { #expect(world.happen(event)) }
        #expect(world.answers(2).map(\.status) == [200] && world.answers(2).first?.cacheStatus.isStored == true)
        let other = try World()
        for event in [Event.first, .named, .head, .half, .firstLeaves, .due] { #expect(other.happen(event)) }
        #expect(!other.isFetching && other.timers.isEmpty && other.state.report.aborted["body"] == 1)
    }

    @Test("A connection lost before any byte is retried once")
    func retry() throws {
        let world = try World()
        for event in [Event.first, .named, .loss] { #expect(world.happen(event)) }
        #expect(world.timers == [.pause] && !world.isFetching && world.answers(1).isEmpty)
        #expect(world.happen(.due) && world.isFetching && world.fetches == 2)
        #expect(world.happen(.loss) && world.answers(1).map(\.status) == [502] && !world.isFetching)
        #expect(world.happen(.second) && world.answers(2).first?.cacheStatus.outcome == .negative && world.fetches == 2)
    }

    @Test("A redirect to another host waits for name resolution and a permit")
    func redirect() throws {
        let world = try World()
        for event in [Event.first, .named] { #expect(world.happen(event)) }
        let other = try FetchURL("http://other.test/a")
        let goesOnAtHome = world.state.handle(.redirected(try FetchURL("http://pictures.test/b")), 1)
        let goesOnElsewhere = world.state.handle(.redirected(other), 1)
        #expect(goesOnAtHome && !goesOnElsewhere)
        world.goOn()
        #expect(world.isNaming && !world.hasProceeded)
        #expect(world.happen(.named) && world.hasProceeded && world.fetches == 1)
        for event in [Event.head, .half, .rest, .end] { #expect(world.happen(event)) }
        #expect(world.answers(1).map(\.status) == [200])
        try world.clearUp("redirect")
    }

    @Test("A waiter is rejected at the queue timeout, and started when a permit is free")
    func queue() throws {
        let world = try World { $0.downloads = 1 }
        for event in [Event.first, .named] { #expect(world.happen(event)) }
        for (waiter, path) in [(UInt64(3), "x"), (4, "y")] {
            world.enter(waiter, "http://pictures.test/\(path)")
            world.state.named(waiter - 1, nil)
            world.goOn()
        }
        #expect(world.fetches == 1 && world.queueDue != nil && world.state.report.queued == 2)
        // The newest goes first.
        world.complete(1)
        #expect(world.fetches == 2 && world.state.report.queued == 1)
        world.pass(.seconds(3))
        world.state.expireQueue()
        world.goOn()
        #expect(world.answers(3).map(\.status) == [503] && world.answers(4).isEmpty)
        world.state.unsubscribe(4)
        world.state.shutDown()
        world.goOn()
        #expect(world.state.report.inFlight == 0 && world.state.report.waiters == 0 && world.answers(4).count == 1)
    }
}

/// One image's surroundings: whatever the state wants done is noted.
private final class World {
    private struct Heard: Sendable {
        var answers: [UInt64: [ImageResponse]] = [:]
        var departed: [UInt64] = []
        var now = MonotonicInstant(nanoseconds: 1_000_000_000)
    }

    private static let url = "http://pictures.test/a"
    /// Large enough that one who has half of it is not nearly done.
    private static let image = TestImage.png(1, bytes: 60_000)
    private static let half = 1_000

    private let heard: Shared
    var state: ImageFetchStateMachine
    /// The download that there is, as far as is known, and where its transfer stands.
    private var number: UInt64 = 0
    private(set) var fetches = 0
    private(set) var isFetching = false
    private(set) var isNaming = false
    private(set) var isPaused = false
    private(set) var hasProceeded = false
    private(set) var timers: Set<FetchEffect.Timer> = []
    private(set) var queueDue: MonotonicInstant?
    private var received: Int?
    private var present: Set<UInt64> = []

    private final class Shared: Sendable {
        let state = Mutex(Heard())
    }

    init(_ change: (inout ImageConfiguration) -> Void = { _ in }) throws {
        var configuration = ImageConfiguration()
        configuration.clock = { 1_000 }
        change(&configuration)
        let heard = Shared()
        self.heard = heard
        state = ImageFetchStateMachine(
            configuration, cache: ImageCache(memory: MemoryCache(capacity: 1 << 20), disk: nil), budget: MemoryBudget(limit: 1 << 20),
            now: { heard.state.withLock { $0.now } })
    }

    func answers(_ waiter: UInt64) -> [ImageResponse] { heard.state.withLock { $0.answers[waiter] ?? [] } }

    func pass(_ duration: Duration) { heard.state.withLock { $0.now = $0.now.advanced(by: duration) } }

    func enter(_ waiter: UInt64, _ url: String = url) {
        present.insert(waiter)
        state.subscribe(ImageRequest(url), waiter, onLeave: { [heard] in heard.state.withLock { $0.departed.append(waiter) } }) {
            [heard] answer in
            heard.state.withLock { $0.answers[waiter, default: []].append(answer) }
        }
        goOn()
    }

    /// False where it cannot happen as things are.
    func happen(_ event: ImageFetchStateMachineTests.Event) -> Bool {
        switch event {
        case .first, .second:
            let waiter: UInt64 = event == .first ? 1 : 2
            guard !present.contains(waiter) else { return false }
            enter(waiter)
        case .firstLeaves, .secondLeaves:
            let waiter: UInt64 = event == .firstLeaves ? 1 : 2
            guard present.contains(waiter) else { return false }
            // Twice is once.
            state.unsubscribe(waiter)
            state.unsubscribe(waiter)
        case .named, .unnamed:
            guard isNaming else { return false }
            isNaming = false
            state.named(number, event == .named ? nil : .hostNotFound)
        case .head, .refusal:
            guard isFetching, received == nil, let url = try? FetchURL(Self.url) else { return false }
            let length = String(Self.image.count)
            let head = FetchHead(
                status: event == .head ? 200 : 404, headers: HTTPFields(["Content-Type": "image/png", "Content-Length": length]),
                url: url
            )
            received = 0
            if !state.handle(.head(head), number) { end(.rejected) }
        case .half, .rest:
            let place = event == .half ? 0 : Self.half
            guard isFetching, received == place, !isPaused else { return false }
            let part = event == .half ? Self.image.prefix(Self.half) : Self.image.dropFirst(Self.half)
            received = place + part.count
            if !part.withUnsafeBytes({ state.handle(.bytes($0), number) }) { end(.rejected) }
        case .end:
            guard isFetching, received == Self.image.count else { return false }
            end(nil)
        case .loss:
            guard isFetching else { return false }
            end(.connectionLost)
        case .due:
            guard let timer = FetchEffect.Timer.allCases.first(where: { timers.contains($0) }) else { return false }
            timers.remove(timer)
            state.due(timer, number)
        }
        goOn()
        return true
    }

    /// All of the image arrives for a download.
    func complete(_ number: UInt64) {
        (self.number, isFetching, received) = (number, true, nil)
        for event in [ImageFetchStateMachineTests.Event.head, .half, .rest, .end] { #expect(happen(event)) }
    }

    private func end(_ failure: FetchError?) {
        isFetching = false
        received = nil
        _ = state.handle(.ended(failure), number)
    }

    func goOn() {
        while let step = state.nextStep() {
            switch step {
            case .readDisk, .readFile: Issue.record("there is neither")
            case .waitForName(let number, _): (self.number, isNaming) = (number, true)
            case .fetch(let number, _):
                #expect(!isFetching || number != self.number, "two transfers of one download")
                (self.number, isFetching, received, fetches) = (number, true, nil, fetches + 1)
            case .proceed: hasProceeded = true
            case .setPaused(_, let isPaused): self.isPaused = isPaused
            case .arm(let number, let timer, _): if number == self.number { timers.insert(timer) }
            case .disarm(let number, let timer): if number == self.number { timers.remove(timer) }
            case .drop(let number):
                guard number == self.number else { continue }
                (isFetching, isNaming, isPaused, timers, received) = (false, false, false, [], nil)
            case .watchQueue(let due): queueDue = due
            case .review: break
            }
        }
    }

    /// Everybody leaves and time passes: each was told once, and nothing is left.
    func clearUp(_ story: String) throws {
        for waiter in present { #expect(answers(waiter).count <= 1, "\(story): told twice") }
        for waiter in present { state.unsubscribe(waiter) }
        goOn()
        while let timer = timers.popFirst() {
            state.due(timer, number)
            goOn()
        }
        for waiter in present { #expect(answers(waiter).count == 1, "\(story): not told") }
        // What is nearly done is finished for the cache.
        if isFetching {
            #expect(received == Self.image.count, "\(story): goes on for nobody")
            end(nil)
            goOn()
        }
        // Streams go, and say so.
        _ = heard.state.withLock { heard in
            defer { heard.answers = [:] }
            return heard.answers
        }
        for waiter in heard.state.withLock({ $0.departed }) { state.unsubscribe(waiter) }
        goOn()
        let report = state.report
        #expect(report.waiters == 0 && report.inFlight == 0 && report.queued == 0 && report.bufferBytes == 0, "\(story): \(report)")
        #expect(!isFetching && !isNaming && timers.isEmpty, "\(story)")
    }
}
