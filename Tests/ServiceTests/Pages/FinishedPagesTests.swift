import Feed
import HTTPServer
import HTTPTypes
import Testing

@testable import Service

@Suite("Pages as finished bytes")
struct FinishedPagesTests {
    @Test("a page is found under the spelling of its target that was asked for last")
    func spelling() throws {
        let pages = FinishedPages(capacity: 1 << 20, metrics: PageMetrics(registry: PrometheusRegistry()))
        let key = FinishedPages.Key(FeedRequest(cursor: nil, limit: 20, now: 1), of: "/feed")
        let version = StoreVersion(high: 1, low: 1)
        let canned = CannedResponse(ServerResponse(status: .ok, body: Array("{}".utf8)))
        pages.keep(canned, hasGzip: false, as: key, target: "/feed?utm=1", version: version, validUntil: 10)
        let (count, bytes) = pages.contents
        let page = try #require(pages.page(key, target: "/feed", version: version, now: 2))
        #expect(page.target == Array("/feed".utf8))
        #expect(pages.contents.pages == count && pages.contents.bytes == bytes - "?utm=1".utf8.count)
        pages.keep(canned, hasGzip: true, as: key, target: "/feed?", version: version, validUntil: 10)
        #expect(pages.page(key, target: "/feed?", version: version, now: 2)?.target == Array("/feed?".utf8))
        #expect(pages.page(key, target: "/feed", version: StoreVersion(high: 1, low: 2), now: 2) == nil)
    }
}
