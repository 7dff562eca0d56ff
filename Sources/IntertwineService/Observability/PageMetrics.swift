internal import CoreMetrics
internal import IntertwineFeed

final class PageMetrics: Sendable {
    private let hits: Counter
    private let misses: Counter
    private let coalesced: Counter
    private let staleServings: Counter
    private let prefetches: Counter
    private let broken: Counter
    private let registry: PrometheusRegistry

    init(registry: PrometheusRegistry) {
        registry.describe("intertwine_feed_page_cache_hits_total", "Cache hits of shared pages.")
        registry.describe("intertwine_feed_page_cache_misses_total", "Cache misses of shared pages.")
        registry.describe(
            "intertwine_feed_page_coalesced_requests_total", "Requests coalesced with another request for the same shared page.")
        registry.describe(
            "intertwine_feed_stale_pages_total", "Stale shared pages served after a write.")
        registry.describe("intertwine_feed_prefetched_pages_total", "Shared pages that were prefetched.")
        registry.describe(
            "intertwine_feed_broken_items_total", "Invalid items omitted from rendered pages.")
        registry.describe(
            "intertwine_feed_unsupported_cells_total",
            "Items omitted because the client supports none of their cells, by the first of these cells.")
        self.registry = registry
        hits = Counter(label: "intertwine_feed_page_cache_hits_total", factory: registry)
        misses = Counter(label: "intertwine_feed_page_cache_misses_total", factory: registry)
        coalesced = Counter(label: "intertwine_feed_page_coalesced_requests_total", factory: registry)
        staleServings = Counter(label: "intertwine_feed_stale_pages_total", factory: registry)
        prefetches = Counter(label: "intertwine_feed_prefetched_pages_total", factory: registry)
        broken = Counter(label: "intertwine_feed_broken_items_total", factory: registry)
    }

    func hit() { hits.increment() }

    func miss() { misses.increment() }

    func join() { coalesced.increment() }

    func stale() { staleServings.increment() }

    func recordPrefetch() { prefetches.increment() }

    func count(_ omissions: [FeedPage.SkippedItem]) {
        var unknown: [String: Int64] = [:]
        for omission in omissions {
            switch omission.reason {
            case .broken: broken.increment()
            case .unknownToClient(let identifiers): unknown[identifiers.first ?? "", default: 0] += 1
            case .noFactory: break
            }
        }
        for (identifier, count) in unknown {
            Counter(label: "intertwine_feed_unsupported_cells_total", dimensions: [("identifier", identifier)], factory: registry)
                .increment(by: count)
        }
    }
}
