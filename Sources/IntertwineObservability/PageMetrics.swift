internal import CoreMetrics
package import IntertwineFeed

/// The metrics of feed pages.
package final class PageMetrics: Sendable {
    private let hits: Counter
    private let misses: Counter
    private let joins: Counter
    private let stales: Counter
    private let aheads: Counter
    private let broken: Counter
    private let registry: PrometheusRegistry

    package init(registry: PrometheusRegistry) {
        registry.describe("intertwine_feed_page_cache_hits_total", "Cache hits of shared pages.")
        registry.describe("intertwine_feed_page_cache_misses_total", "Shared pages that had to be made.")
        registry.describe(
            "intertwine_feed_page_joined_requests_total", "Requests for a shared page that waited for one that another had made.")
        registry.describe(
            "intertwine_feed_stale_pages_total", "Shared pages that were served although something had been written since (feed.stale).")
        registry.describe(
            "intertwine_feed_pages_ahead_total", "Shared pages that were prefetched.")
        registry.describe(
            "intertwine_feed_broken_items_total", "Items that were left out of a page that was made, because they are broken.")
        registry.describe(
            "intertwine_feed_unknown_cells_total",
            "Items that were left out of a page that was made, because its client knows none of their cells, by the first of these.")
        self.registry = registry
        hits = Counter(label: "intertwine_feed_page_cache_hits_total", factory: registry)
        misses = Counter(label: "intertwine_feed_page_cache_misses_total", factory: registry)
        joins = Counter(label: "intertwine_feed_page_joined_requests_total", factory: registry)
        stales = Counter(label: "intertwine_feed_stale_pages_total", factory: registry)
        aheads = Counter(label: "intertwine_feed_pages_ahead_total", factory: registry)
        broken = Counter(label: "intertwine_feed_broken_items_total", factory: registry)
    }

    /// Counts a cache hit.
    package func hit() { hits.increment() }

    /// Counts a cache miss, after which the page is made.
    package func miss() { misses.increment() }

    /// Counts a request that was coalesced: it waits for a page that another request makes.
    package func join() { joins.increment() }

    /// Counts a stale page that was served.
    package func stale() { stales.increment() }

    /// Counts a prefetched page.
    package func recordPrefetch() { aheads.increment() }

    package func count(_ omissions: [FeedPage.SkippedItem]) {
        var unknown: [String: Int64] = [:]
        for omission in omissions {
            switch omission.reason {
            case .broken: broken.increment()
            case .unknownTypes(_, let identifier): unknown[identifier, default: 0] += 1
            case .unknownToClient(let identifiers): unknown[identifiers.first ?? "", default: 0] += 1
            case .noFactory: break
            }
        }
        for (identifier, count) in unknown {
            Counter(label: "intertwine_feed_unknown_cells_total", dimensions: [("identifier", identifier)], factory: registry)
                .increment(by: count)
        }
    }
}
