import Foundation
import Synchronization
import Testing

@testable import IntertwineFeed
@testable import IntertwineHTTPServer
@testable import IntertwineImages
@testable import IntertwineService
@testable import IntertwineStorage

/// Data with an expiry in wall-clock time. All other timeouts use a monotonic clock, as their types show:
/// `NegativeCache`, `CircuitBreaker`, `AdmissionQueue`, `Resolver` and the limits of connections by `MonotonicInstant`,
/// `AuthFailureLimiter` by `ContinuousClock.Instant`, the pauses of `SourcePoller` by `Duration`.
@Suite("Clock changes")
final class ClockTests {
    enum Kind: CaseIterable {
        case repeatedClick, rate, idempotencyKey, undo, token, page
        case freshPicture, stalePictureWhileRevalidated, stalePictureOnError, picturePath, pictureLink
    }

    private static let now: Int64 = 1_767_227_400_000

    private let folder = NSTemporaryDirectory() + "intertwine-" + UUID().uuidString
    /// The time of the ledger's clock.
    private let clock = Moment()

    private final class Moment: Sendable {
        private let milliseconds = Mutex<Int64>(0)

        var now: Int64 {
            get { milliseconds.withLock { $0 } }
            set { milliseconds.withLock { $0 = newValue } }
        }
    }

    init() throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func ledger() throws -> SQLiteLedger {
        try SQLiteLedger(path: folder + "/ledger.sqlite", now: { [clock] in clock.now })
    }

    @Test(
        "An entry created while the clock was ahead expires once the clock is back", arguments: Kind.allCases,
        [6, 24 * 90, 24 * 365] as [Int64])
    func ahead(kind: Kind, hours: Int64) async throws {
        // The clock of an image's origin may differ by a day; its path may come from another replica.
        if hours < 48, "\(kind)".contains("icture") { return }
        // A response is valid while it is ahead by less than its lifetime of a day.
        if hours < 24, kind == .idempotencyKey { return }
        // Image paths are valid for weeks.
        let hours = kind == .picturePath || kind == .pictureLink ? hours + 24 * 365 : hours
        let ahead = Self.now + hours * 3_600_000
        clock.now = ahead
        let stands = try await make(kind, at: ahead)
        #expect(try await stands(ahead))
        clock.now = Self.now
        #expect(try await !stands(Self.now))
    }

    /// Creates an entry at a moment.
    ///
    /// - Returns: a check of whether the entry is valid at another moment.
    private func make(_ kind: Kind, at made: Int64) async throws -> (Int64) async throws -> Bool {
        let keys = SigningKeys(current: try SigningKey(Array(repeating: 7, count: 32)))
        switch kind {
        case .repeatedClick, .rate:
            let ledger = try ledger()
            func verdict(_ moment: Int64) async throws -> Verdict? {
                var click = LedgerEvent(at: moment, kind: .click, cell: "ad:1")
                if kind == .rate { click.rates = [.init(key: "a", limit: 1, window: 60_000)] }
                if kind == .repeatedClick { click.deduplication = .init(key: "d", window: 30_000) }
                return try await ledger.commit(LedgerEntry(events: [click])).verdicts.first
            }
            _ = try await verdict(made)
            return { try await verdict($0) != .counted }
        case .idempotencyKey:
            let ledger = try ledger()
            func key(_ moment: Int64) -> IdempotencyKey {
                IdempotencyKey(scope: "s", key: "k", fingerprint: "f", expires: moment + IdempotencyKeys.lifetime)
            }
            let event = LedgerEvent(at: made, kind: .click, cell: "ad:1")
            _ = try await ledger.commit(LedgerEntry(events: [event], idempotency: (key(made), { _ in [1] })))
            return { try await ledger.replay(of: key($0)) != nil }
        case .undo:
            let (ledger, window) = (try ledger(), Int64(600_000))
            let performer = ActionPerformer(
                store: try SQLiteStore(path: folder + "/items.sqlite"), ledger: ledger,
                factories: try CellFactories.standard(CellConfiguration(), commands: .standard), tokens: CellTokens(keys: keys),
                undoWindow: window)
            // Each record can be undone once.
            for moment in [made, Self.now] {
                let record = CommandRecord(id: "\(moment)", cell: "ad:1", viewer: nil, steps: [], expires: made + window)
                _ = try await ledger.commit(LedgerEntry(selection: record))
            }
            return { moment in
                do {
                    _ = try await performer.undo(invocation: "\(moment)", for: ClientFingerprint(), now: moment)
                    return true
                } catch ActionError.undoExpired {
                    return false
                }
            }
        case .token:
            let tokens = CellTokens(keys: keys)
            let text = tokens.impression(cell: "ad:1", slot: 0, now: made)
            return { if case .valid = tokens.verifyImpression(text, now: $0) { true } else { false } }
        case .page:
            let pages = PageCache(capacity: 1 << 20, metrics: PageMetrics(registry: PrometheusRegistry()))
            let key = PageCache.Key(FeedRequest(cursor: nil, limit: 20, now: 1), of: "/feed")
            let (version, finished) = (StoreVersion(high: 1, low: 1), EncodedResponse(ServerResponse(status: .ok, body: Array("{}".utf8))))
            pages.store(
                PageCache.Page(response: finished, version: version, renderedAt: made, validUntil: CellTokens.endOfBucket(of: made)),
                as: key, target: "/feed", current: version)
            return { pages.response(key, target: "/feed", version: version, now: $0) { _ in } != nil }
        case .freshPicture, .stalePictureWhileRevalidated, .stalePictureOnError:
            let age: Int64 = kind == .freshPicture ? 0 : 10
            let born = made / 1_000 - age
            let end = born + 5
            let freshness = Freshness(
                generatedAt: born, freshUntil: end, localFreshUntil: end, staleWhileRevalidateUntil: end + 60, staleIfErrorUntil: end + 60)
            return { moment in
                switch kind {
                case .freshPicture: freshness.isFresh(at: moment / 1_000)
                case .stalePictureOnError: freshness.bridgesError(at: moment / 1_000)
                default: freshness.bridgesRevalidation(at: moment / 1_000)
                }
            }
        case .picturePath:
            let signer = try #require(ImageURLSigner(keys: [Array(repeating: 7, count: 32)]))
            let path = signer.path(for: try FetchURL("http://example.com/a.png"), now: made / 1_000)
            return { moment in (try? signer.verify(path, now: moment / 1_000)) != nil }
        case .pictureLink:
            let signer = try #require(ImageURLSigner(keys: [Array(repeating: 7, count: 32)]))
            let (links, image) = (ImageLinks(signer: signer), "http://example.com/a.png")
            let first = links.link(image, nil, now: made)
            return { links.link(image, nil, now: $0) == first }
        }
    }
}
