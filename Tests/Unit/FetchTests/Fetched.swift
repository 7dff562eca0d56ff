import HTTPTypes
import Synchronization
import TestSupport

@testable import IntertwineImages

/// Remembers all that one fetch reports.
final class Fetched: Sendable {
    enum Event: Sendable {
        case stage(FetchStage)
        case head(FetchHead)
        case bytes([UInt8])
        case repeated
        case ended(FetchError?, at: ContinuousClock.Instant)
    }

    let log = EventLog<Event>()
    private let wants: @Sendable (FetchHead) -> Bool
    private let identifier = Mutex<FetchID?>(nil)

    init(wants: @escaping @Sendable (FetchHead) -> Bool = { _ in true }) {
        self.wants = wants
    }

    func begin(_ id: FetchID) { identifier.withLock { $0 = id } }
    var id: FetchID? { identifier.withLock { $0 } }

    func handle(_ event: FetchEvent) -> Bool {
        switch event {
        case .reached(let stage): log.append(.stage(stage))
        case .repeated: log.append(.repeated)
        case .head(let head):
            log.append(.head(head))
            return wants(head)
        case .bytes(let bytes): log.append(.bytes(Array(bytes)))
        case .ended(let failure): log.append(.ended(failure, at: .now))
        case .redirected, .refused: break
        }
        return true
    }

    func ended() async {
        await log.wait { $0.contains { if case .ended = $0 { true } else { false } } }
    }

    func reached(_ stage: FetchStage) async {
        await log.wait { $0.contains { if case .stage(stage) = $0 { true } else { false } } }
    }

    func started() async {
        await log.wait { $0.contains { if case .head = $0 { true } else { false } } }
    }

    /// The outer nil is "not yet".
    var failure: FetchError?? {
        log.events.lazy.compactMap { event -> FetchError?? in if case .ended(let failure, _) = event { .some(failure) } else { nil } }
            .first
    }

    var head: FetchHead? {
        log.events.lazy.compactMap { if case .head(let head) = $0 { head } else { nil } }.first
    }

    /// A field of the head that has no constant.
    func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { head?.headers[$0] } }

    var body: [UInt8] {
        log.events.flatMap { event -> [UInt8] in if case .bytes(let bytes) = event { bytes } else { [] } }
    }

    var repeats: Int { log.events.count { if case .repeated = $0 { true } else { false } } }

    var endings: Int { log.events.count { if case .ended = $0 { true } else { false } } }
}
