import HTTPTypes
import Synchronization
import Testing

@testable import IntertwineFeed
@testable import IntertwineHTTPServer
@testable import IntertwineService

@Suite("Page cache")
struct PageCacheTests {
    @Test("A cached page is found by key and stored under its latest target spelling")
    func spelling() throws {
        let pages = PageCache(capacity: 1 << 20, metrics: PageMetrics(registry: PrometheusRegistry()))
        let key = PageCache.Key(FeedRequest(cursor: nil, limit: 20, now: 1), of: "/feed")
        let version = StoreVersion(high: 1, low: 1)
        let finished = EncodedResponse(ServerResponse(status: .ok, body: Array("{}".utf8)))
        pages.store(
            PageCache.Page(response: finished, version: version, renderedAt: 1, validUntil: 10),
            as: key, target: "/feed?utm=1", current: version)
        let (count, bytes) = pages.contents
        func isFound(_ target: String, _ version: StoreVersion) -> Bool {
            pages.response(key, target: target, version: version, now: 1) { _ in } != nil
        }
        #expect(isFound("/feed", version))
        #expect(pages.contents.pages == count && pages.contents.bytes == bytes - "?utm=1".utf8.count)
        pages.store(
            PageCache.Page(response: finished, version: version, renderedAt: 1, validUntil: 10),
            as: key, target: "/feed?", current: version)
        #expect(pages.contents.pages == count && pages.contents.bytes == bytes - "utm=1".utf8.count)
        #expect(isFound("/feed?", version) && !isFound("/feed", StoreVersion(high: 1, low: 2)))
    }

    @Test("A store that is asked about a page can use the cache, because no lock is held")
    func reentrancy() {
        let (first, second) = (StoreVersion(high: 1, low: 1), StoreVersion(high: 1, low: 2))
        let key = PageCache.Key(FeedRequest(cursor: nil, limit: 20, now: 1), of: "/feed")
        let asked = Atomic(0)
        let cache = Mutex<PageCache?>(nil)
        let pages = PageCache(capacity: 1 << 20, metrics: PageMetrics(registry: PrometheusRegistry())) { _, old, new in
            asked.add(1, ordering: .relaxed)
            // It would wait for ever for a lock of the page.
            guard let pages = cache.withLock({ $0 }) else { return false }
            return pages.response(key, target: "/feed", version: old, now: 1) { _ in } != nil
        }
        let finished = EncodedResponse(ServerResponse(status: .ok, body: Array("{}".utf8)))
        var page = PageCache.Page(response: finished, version: first, renderedAt: 1, validUntil: 10)
        page.dependencies = PageDependencies()
        pages.store(page, as: key, target: "/feed", current: first)
        cache.withLock { $0 = pages }
        #expect(pages.response(key, target: "/feed", version: second, now: 1) { _ in } === finished)
        #expect(asked.load(ordering: .relaxed) == 1)
        // The result is kept with the page.
        #expect(pages.response(key, target: "/feed", version: second, now: 1) { _ in } === finished)
        #expect(asked.load(ordering: .relaxed) == 1)
        cache.withLock { $0 = nil }
    }

    @Test("Two targets with the same hash are two cached pages")
    func collision() throws {
        let targets = ["/feed?cursor=1ynbHCCk2qG", "/feed?cursor=M-fqfF_vJfA"]
        #expect(Set(targets.map { RequestHead.hash(ofTarget: Array($0.utf8)) }).count == 1)
        let pages = PageCache(capacity: 1 << 20, metrics: PageMetrics(registry: PrometheusRegistry()))
        let version = StoreVersion(high: 1, low: 1)
        func find(_ target: String) throws -> EncodedResponse? {
            try Array("GET \(target) HTTP/1.1\r\nHost: a\r\n\r\n".utf8).withUnsafeBufferPointer { bytes in
                let parser = HeadParser(limits: HeadLimits())
                #expect(try parser.parse(bytes))
                let head = try RequestHead(parser, bytes, name: .generated(0, 0))
                return pages.response(for: head, in: nil, version: version, now: 1) { _ in }
            }
        }
        for target in targets {
            let finished = EncodedResponse(ServerResponse(status: .ok, body: Array(target.utf8)))
            let key = PageCache.Key(FeedRequest(cursor: target, limit: 20, now: 1), of: "/feed")
            pages.store(
                PageCache.Page(response: finished, version: version, renderedAt: 1, validUntil: 10),
                as: key, target: target, current: version)
            #expect(try find(target) === finished)
            for other in targets where other != target { #expect(try find(other) == nil) }
        }
    }

    @Test("A cached page expires at the end of its validity and can be replaced")
    func hours() {
        let pages = PageCache(capacity: 1 << 20, metrics: PageMetrics(registry: PrometheusRegistry()))
        let key = PageCache.Key(FeedRequest(cursor: nil, limit: 20, now: 1), of: "/feed")
        let version = StoreVersion(high: 1, low: 1)
        func keep(until end: Int64) -> EncodedResponse {
            let finished = EncodedResponse(ServerResponse(status: .ok, body: Array("{}".utf8)))
            pages.store(
                PageCache.Page(response: finished, version: version, renderedAt: 1, validUntil: end),
                as: key, target: "/feed", current: version)
            return finished
        }
        func found(now: Int64) -> EncodedResponse? { pages.response(key, target: "/feed", version: version, now: now) { _ in } }
        let first = keep(until: 10)
        #expect(found(now: 9) === first && found(now: 10) == nil)
        let second = keep(until: 20)
        #expect(found(now: 11) === second && found(now: 19) === second && found(now: 20) == nil)
    }

    @Test("A page rendered with the clock ahead is not served after its correction")
    func clockAhead() {
        let pages = PageCache(capacity: 1 << 20, metrics: PageMetrics(registry: PrometheusRegistry()))
        let key = PageCache.Key(FeedRequest(cursor: nil, limit: 20, now: 1), of: "/feed")
        let version = StoreVersion(high: 1, low: 1)
        let finished = EncodedResponse(ServerResponse(status: .ok, body: Array("{}".utf8)))
        let (now, ahead) = (Int64(1_000), Int64(6 * 3_600_000 + 1_000))
        for (moment, isServed) in [(ahead, true), (now, false)] {
            pages.store(
                PageCache.Page(response: finished, version: version, renderedAt: moment, validUntil: CellTokens.endOfBucket(of: ahead)),
                as: key, target: "/feed", current: version)
            #expect((pages.response(key, target: "/feed", version: version, now: moment) { _ in } != nil) == isServed)
        }
    }

    private final class Known: ImageMetadataStore {
        let revised = Atomic<UInt64>(0)
        let version: UInt64 = 1
        var revision: UInt64 { revised.load(ordering: .relaxed) }
        func placeholder(of source: String) -> ImagePlaceholder? { nil }
    }

    @Test("A page from before an image revision is neither served nor cached")
    func images() {
        let known = Known()
        let pages = PageCache(
            capacity: 1 << 20, maxStaleness: 1_000, metrics: PageMetrics(registry: PrometheusRegistry()), imageMetadata: known)
        let key = PageCache.Key(FeedRequest(cursor: nil, limit: 1, now: 1), of: "/feed")
        let version = StoreVersion(high: 1, low: 1)
        let finished = EncodedResponse(ServerResponse(status: .ok, body: Array("{}".utf8)))
        func keep(_ revision: UInt64) {
            pages.store(
                PageCache.Page(
                    response: finished, version: version, revision: revision, renderedAt: 1, validUntil: CellTokens.endOfBucket(of: 1)),
                as: key, target: "/feed", current: version)
        }
        func isServed() -> Bool {
            let found = pages.response(key, target: "/feed", version: version, now: 1) { _ in }
            return found != nil && pages.has(key, version: version)
        }
        keep(pages.revision)
        #expect(isServed())
        known.revised.add(1, ordering: .relaxed)
        #expect(!isServed())
        keep(0)
        #expect(!isServed())
        keep(pages.revision)
        #expect(isServed())
    }

    @Test("A stale page is served within the maximum staleness after its rendering, and no longer", arguments: [0, 1_000])
    func stale(bound: Int64) {
        let pages = PageCache(capacity: 1 << 20, maxStaleness: bound, metrics: PageMetrics(registry: PrometheusRegistry()))
        let keys = (1...2).map { PageCache.Key(FeedRequest(cursor: nil, limit: $0, now: 1), of: "/feed") }
        let versions = (1...3).map { StoreVersion(high: 1, low: $0) }
        let finished = EncodedResponse(ServerResponse(status: .ok, body: Array("{}".utf8)))
        func keep(_ page: Int, of version: Int, current: Int, at moment: Int64) {
            pages.store(
                PageCache.Page(
                    response: finished, version: versions[version], renderedAt: moment, validUntil: CellTokens.endOfBucket(of: moment)),
                as: keys[page], target: "/feed?limit=\(page)", current: versions[current])
        }
        func isServed(_ page: Int, at moment: Int64) -> Bool {
            pages.response(keys[page], target: "/feed?limit=\(page)", version: versions[2], now: moment) { _ in } != nil
        }
        keep(0, of: 0, current: 0, at: 1_000)
        #expect([999, 1_000, 1_999, 2_000].map { isServed(0, at: $0) } == [false, bound > 0, bound > 0, false])
        // A page with a write during its rendering has the age of its version.
        keep(1, of: 1, current: 2, at: 1_500)
        #expect(isServed(1, at: 1_600) == (bound > 0) && isServed(0, at: 1_600) == (bound > 0))
        keep(1, of: 2, current: 2, at: 2_100)
        #expect(isServed(1, at: 9_000))
        #expect(pages.contents.pages == (bound > 0 ? 2 : 1))
    }
}
