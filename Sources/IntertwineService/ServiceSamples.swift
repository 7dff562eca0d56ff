internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwineStorage

struct ServiceSamples: Sendable {
    let live: ReloadableApplication
    let cellCounters: RenderedCellCache.Counters
    let store: any ItemStore
    let ledger: any PersistentLedger
    let polling: SourcePoller
    let trackers: TrackerMetrics
    let campaigns: CampaignMetrics
    let delivery: AdServer
    let imageManager: ImageNetworkManager
    let accessLog: AccessLog
    let sink: LogSink
    let listeners: LiveFeeds
    let servedFiles: [(name: String, file: ServedFile)]
    let tokens: [TokenService]
    let rateLimits: [(name: String, limiter: WriteLimiter)]
    let clock: @Sendable () -> Int64
    /// Returns the time at which the newest signing key was created, in milliseconds since 1970-01-01 UTC; nil if it is not known.
    let keyCreation: @Sendable () -> Int64?

    func read() async -> [MetricSample] {
        ProcessSamples.read() + [Self.build] + pages + cells + received + reads + checks + commits + connections + keys
            + campaigns.samples(delivery.progress(now: clock()), of: live.current.campaigns, now: clock()) + tracked + logs + verified
            + limited
            + SourceSamples.read(polling, now: clock()) + Self.images(await imageManager.metrics())
    }

    private static let build = MetricSample(
        "intertwine_build_info", .gauge, "Always 1; the label is the version of the process.", labels: [("version", FeedService.version)], 1
    )

    private var pages: [MetricSample] {
        let contents = live.current.pages.contents
        return [
            .gauge("intertwine_feed_page_cache_entries", "Cached pages.", contents.pages),
            .gauge("intertwine_feed_page_cache_bytes", "Bytes of cached pages.", contents.bytes),
        ]
    }

    private var cells: [MetricSample] {
        let (contents, counters) = (live.current.cells.contents, cellCounters)
        let (authors, decisions) = (live.current.feeds.main.newest.usage, live.current.feeds.main.decisions)
        return [
            .counter("intertwine_feed_cell_cache_hits_total", "Cache hits of cells.", counters.hits),
            .counter("intertwine_feed_cell_cache_misses_total", "Cache misses of cells.", counters.misses),
            .counter("intertwine_feed_cell_cache_evictions_total", "Cells evicted from the cache.", counters.evictions),
            .gauge("intertwine_feed_cell_cache_entries", "Cached cells.", contents.cells),
            .gauge("intertwine_feed_cell_cache_bytes", "Bytes of cached cells.", contents.bytes),
            .gauge("intertwine_feed_author_cache_bytes", "Bytes of cached positions of authors' items.", authors.bytes),
            .gauge("intertwine_feed_ad_decision_cache_bytes", "Bytes of cached decisions of own sources of ads.", decisions?.bytes ?? 0),
        ]
    }

    private var received: [MetricSample] {
        let contents = listeners.contents
        return [
            .gauge("intertwine_feed_subscribers", "Clients subscribed to live updates.", contents.listeners),
            .counter("intertwine_feed_live_events_total", "Live events sent to subscribed clients.", contents.events),
        ]
    }

    private var reads: [MetricSample] {
        let files = [("items", store.readStatistics), ("ledger", ledger.readStatistics)]
        return MetricSample.each(
            "intertwine_store_reads_total", .counter, "Completed reads of a database file.", by: "file", files.map { ($0, $1.finished) })
            + MetricSample.each(
                "intertwine_store_reads_running", .gauge, "Reads that run on a thread.", by: "file", files.map { ($0, $1.running) })
            + MetricSample.each(
                "intertwine_store_reads_queued", .gauge, "Reads that wait for a thread.", by: "file", files.map { ($0, $1.waiting) })
            + MetricSample.each(
                "intertwine_store_refused_reads_total", .counter, "Reads rejected because the queue was full or they waited too long.",
                by: "file", files.map { ($0, $1.refused) })
    }

    private var checks: [MetricSample] {
        MetricSample.each(
            "intertwine_store_checks_total", .counter, "Completed checks of a database file without corruption.", by: "file",
            servedFiles.map { ($0, $1.completeChecks) })
            + MetricSample.each(
                "intertwine_store_corrupt", .gauge, "1 if a database file is known to be corrupt; it accepts no writes.", by: "file",
                servedFiles.map { ($0, $1.isCorrupt ? 1 : 0) })
    }

    private var commits: [MetricSample] {
        let ledger = ledger.statistics
        return [
            .counter("intertwine_ledger_commits_total", "Transactions committed to the ledger.", ledger.commits),
            .counter(
                "intertwine_ledger_units_total", "Units of work in the ledger's transactions; units divided by commits is the mean batch.",
                ledger.units),
            .counter("intertwine_ledger_failed_units_total", "Units of work that could not be written.", ledger.failed),
            .counter("intertwine_ledger_refused_units_total", "Units of work rejected because the queue was full.", ledger.refused),
            .gauge(
                "intertwine_sqlite_memory_bytes", "Memory of SQLite's page caches and statements; each connection has a limit.",
                ServedFile.memoryInUse),
            .gauge("intertwine_ledger_queued_units", "Units of work that wait for the disk.", ledger.waiting),
            .gauge(
                "intertwine_ledger_rate_counters", "Rate counters of clients in memory; others are on disk.", ledger.rateCounters),
            .gauge(
                "intertwine_ledger_rate_counters_bytes", "Size of the table of rate counters in memory, at most 64 MiB.",
                ledger.rateCounterBytes),
            .gauge("intertwine_ledger_largest_batch_units", "Largest number of units of work in one transaction.", ledger.largestGroup),
        ]
    }

    private var limited: [MetricSample] {
        rateLimits.flatMap { name, limiter in
            let (addresses, viewers) = limiter.entries
            return [("address", addresses), ("viewer", viewers)].map { unit, count in
                MetricSample(
                    "intertwine_rate_limit_entries", .gauge, "Clients that a rate limit knows, at most 65,536 for each series.",
                    labels: [("limit", name), ("by", unit)], Double(count))
            }
        }
    }

    private var verified: [MetricSample] {
        func samples(_ name: String, _ help: String, _ value: (TokenService) -> Int) -> [MetricSample] {
            MetricSample.each(name, .gauge, help, by: "listener", tokens.map { ($0.listener, value($0)) })
        }
        let outcomes = tokens.flatMap { service in
            service.verifier.outcomes.map { outcome in
                MetricSample(
                    "intertwine_tokens_verified_total", .counter, "Verifications of bearer tokens that were not in the cache, by outcome.",
                    labels: [("listener", service.listener), ("outcome", outcome.name)], Double(outcome.count))
            }
        }
        let reloads = tokens.flatMap { service in
            [("loaded", service.keys.statistics.loads), ("failed", service.keys.statistics.failures)].map { outcome, count in
                MetricSample(
                    "intertwine_token_key_reloads_total", .counter, "Reloads of the keys of tokens, by outcome.",
                    labels: [("listener", service.listener), ("outcome", outcome)], Double(count))
            }
        }
        let now = clock()
        return outcomes
            + samples("intertwine_token_cache_entries", "Verified tokens in the cache.") { $0.verifier.cacheUsage.entries }
            + samples("intertwine_token_cache_bytes", "Bytes of verified tokens in the cache.") { $0.verifier.cacheUsage.bytes }
            + samples("intertwine_token_keys", "Keys that verify tokens.") { $0.keys.statistics.keys } + reloads
            + samples("intertwine_token_keys_age_seconds", "Time since the keys of tokens were loaded; -1 before the first time.") {
                $0.keys.statistics.loaded.map { Int((now - $0) / 1_000) } ?? -1
            }
    }

    private var keys: [MetricSample] {
        guard let creation = keyCreation() else { return [] }
        let age = Double(max(0, clock() - creation)) / 1_000
        return [MetricSample("intertwine_signing_key_age_seconds", .gauge, "Time since the newest signing key was created.", age)]
    }

    private var tracked: [MetricSample] {
        let state = trackers.state
        return MetricSample.each(
            "intertwine_tracker_calls_total", .counter, "Tracker calls, by outcome; failed calls are retried.", by: "outcome",
            [("succeeded", state.succeeded), ("failed", state.failed), ("abandoned", state.abandoned)]) + [
                .gauge("intertwine_tracker_calls_pending", "Tracker calls that are pending.", state.summary.waiting),
                .gauge(
                    "intertwine_tracker_calls_abandoned", "Abandoned tracker calls that are stored.",
                    state.summary.givenUp),
            ]
    }

    private var logs: [MetricSample] {
        [
            .counter(
                "intertwine_log_dropped_lines_total", "Log lines dropped because the reader was slow.", sink.droppedLines),
            .counter(
                "intertwine_log_skipped_requests_total", "Requests without a log line, beyond the limit per second.",
                accessLog.skippedRequests),
        ]
    }

    private static func images(_ metrics: ImageMetrics) -> [MetricSample] {
        func each(_ name: String, _ help: String, _ label: String, _ values: [String: Int]) -> [MetricSample] {
            MetricSample.each(name, .counter, help, by: label, values.sorted { $0.key < $1.key })
        }
        let outcomes = Dictionary(uniqueKeysWithValues: metrics.requests.map { ($0.key.rawValue, $0.value) })
        return each("intertwine_image_requests_total", "Requests for images, by cache result.", "outcome", outcomes)
            + each("intertwine_image_downloads_total", "Completed downloads, by result.", "result", metrics.upstream)
            + each("intertwine_image_failed_resizes_total", "Failed resizes, by reason.", "reason", metrics.sizedFailed)
            + each(
                "intertwine_image_cancelled_waiters_total", "Waiting requests that were cancelled, by the stage of their download.",
                "stage", metrics.cancelledWaiters)
            + each(
                "intertwine_image_cancelled_downloads_total", "Downloads cancelled because no request waited, by stage.", "stage",
                metrics.aborted)
            + [
                .counter(
                    "intertwine_image_coalesced_requests_total", "Requests coalesced with the download of another request.",
                    metrics.collapsed),
                .counter(
                    "intertwine_image_wasted_bytes_total", "Bytes received after the last waiting request was cancelled.",
                    metrics.bytesWastedAfterCancel
                ),
                .counter("intertwine_image_discarded_bytes_total", "Bytes of cancelled downloads.", metrics.bytesThrownAway),
                .counter("intertwine_image_received_bytes_total", "Bytes received from origins.", metrics.bytesReceived),
                .counter("intertwine_image_resizes_total", "Completed resizes.", metrics.sizedMade),
                .counter("intertwine_image_cancelled_resizes_total", "Resizes cancelled because no request waited.", metrics.sizedAborted),
                .counter("intertwine_image_retries_total", "Downloads that were retried.", metrics.retries),
                .counter("intertwine_image_revalidations_total", "Stale images that were revalidated.", metrics.refreshes),
                .gauge("intertwine_image_downloads_in_flight", "Running downloads.", metrics.inFlight),
                .gauge("intertwine_image_downloads_queued", "Queued downloads.", metrics.queued),
                .gauge("intertwine_image_waiters", "Requests that wait for an image.", metrics.waiters),
                .gauge("intertwine_image_buffer_bytes", "Bytes buffered by running downloads.", metrics.bufferBytes),
                .gauge("intertwine_image_open_circuits", "Hosts with an open circuit breaker.", metrics.openCircuits),
                .gauge("intertwine_image_negative_cache_entries", "Failures in the negative cache.", metrics.negativeEntries),
            ] + cache("memory", metrics.memoryBytes, metrics.memoryEntries, metrics.memoryEvictions)
            + cache("disk", metrics.diskBytes, metrics.diskEntries, metrics.diskEvictions)
            + [
                .counter(
                    "intertwine_image_disk_write_failures_total", "Images that could not be written to disk.", metrics.diskWriteFailures),
                .counter("intertwine_image_disk_corrupt_entries_total", "Cached images found corrupt on disk.", metrics.diskDamaged),
            ]
    }

    private static func cache(_ name: String, _ bytes: Int, _ entries: Int, _ evictions: Int) -> [MetricSample] {
        [
            .gauge("intertwine_image_\(name)_cache_bytes", "Bytes of images in the \(name) cache.", bytes),
            .gauge("intertwine_image_\(name)_cache_entries", "Images in the \(name) cache.", entries),
            .counter("intertwine_image_\(name)_cache_evictions_total", "Images evicted from the \(name) cache.", evictions),
        ]
    }
}

private enum SourceSamples {
    static func read(_ polling: SourcePoller, now: Int64) -> [MetricSample] {
        polling.sources.flatMap { source in
            polling.registry[source.name].map { samples(of: $0, source.name, now: now) } ?? []
        }
    }

    private static func samples(of state: SourceState, _ name: String, now: Int64) -> [MetricSample] {
        let attempts = (["changed", "unchanged"] + SourceError.Cause.allCases.map(\.rawValue) + [SourceState.otherCause]).map { result in
            counter(
                "intertwine_source_attempts_total", "Synchronizations of a source, by result.", name, state.attempts[result] ?? 0,
                ("result", result))
        }
        let changes = [("added", state.added), ("changed", state.changed), ("removed", state.removed)].map { change, count in
            counter(
                "intertwine_source_changes_total", "Items of the store that a source changed, by change.", name, count, ("change", change))
        }
        let success = state.lastSuccess.map { at in
            gauge(
                "intertwine_source_last_success_timestamp_seconds",
                "Time of a source's last successful synchronization, in seconds since 1970-01-01 UTC.", name, Double(at) / 1_000)
        }
        return attempts + changes + [
            gauge("intertwine_source_items", "Items of a source's last snapshot.", name, Double(state.items ?? 0)),
            gauge("intertwine_source_skipped_items", "Items skipped in a source's last snapshot.", name, Double(state.skipped)),
            gauge(
                "intertwine_source_lag_seconds", "Time since a source was last known to be in sync.", name,
                Double(state.lag(at: now)) / 1_000),
            gauge("intertwine_source_consecutive_failures", "Consecutive failures of a source.", name, Double(state.failures)),
        ] + (success.map { [$0] } ?? [])
    }

    private static func counter(_ name: String, _ help: String, _ source: String, _ value: Int, _ label: (String, String)) -> MetricSample {
        MetricSample(name, .counter, help, labels: [("source", source), label], Double(value))
    }

    private static func gauge(_ name: String, _ help: String, _ source: String, _ value: Double) -> MetricSample {
        MetricSample(name, .gauge, help, labels: [("source", source)], value)
    }
}
