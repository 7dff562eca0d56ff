internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwineObservability
internal import IntertwineStorage
internal import IntertwineSync
internal import IntertwineTrackers

/// The metrics that parts of the service count themselves, read at each metrics request.
struct ServiceSamples: Sendable {
    let live: ReloadableApplication
    let cellCounters: RenderedCellCache.Counters
    /// The store; nil if the program has its own. This also applies to the ledger and the sources.
    let store: (any ItemStore)?
    let ledger: (any PersistentLedger)?
    let polling: SourcePoller?
    let trackers: TrackerMetrics?
    let imageManager: ImageNetworkManager
    let accessLog: AccessLog
    let sink: LogSink
    let listeners: LiveFeeds
    let checkedFiles: [(name: String, file: any CheckedFile)]
    let clock: @Sendable () -> Int64

    func read() async -> [MetricSample] {
        ProcessSamples.read() + [Self.build] + pages + cells + received + reads + checks + commits + tracked + logs
            + (polling.map { SourceSamples.read($0, now: clock()) } ?? []) + Self.images(await imageManager.metrics())
    }

    private static let build = MetricSample(
        "intertwine_build_info", .gauge, "Always 1; the version that runs is a label.", labels: [("version", FeedService.version)], 1)

    private var pages: [MetricSample] {
        let contents = live.current.pages.contents
        return [
            .gauge("intertwine_feed_page_cache_entries", "Cached pages.", contents.pages),
            .gauge("intertwine_feed_page_cache_bytes", "Bytes of cached pages.", contents.bytes),
        ]
    }

    private var cells: [MetricSample] {
        let (contents, counters) = (live.current.cells.contents, cellCounters)
        return [
            .counter("intertwine_feed_cell_cache_hits_total", "Cache hits of cells.", counters.hits),
            .counter("intertwine_feed_cell_cache_misses_total", "Cells that had to be made.", counters.misses),
            .counter("intertwine_feed_cell_cache_evictions_total", "Cells that went to make room for others.", counters.evictions),
            .gauge("intertwine_feed_cell_cache_entries", "Cached cells.", contents.cells),
            .gauge("intertwine_feed_cell_cache_bytes", "Bytes of cached cells.", contents.bytes),
        ]
    }

    private var received: [MetricSample] {
        let contents = listeners.contents
        return [
            .gauge("intertwine_feed_listeners", "Clients subscribed to live updates.", contents.listeners),
            .counter("intertwine_feed_events_total", "Events that were sent to one of them.", contents.events),
        ]
    }

    private var reads: [MetricSample] {
        let files = [("items", store?.readStatistics), ("ledger", ledger?.readStatistics)].compactMap { name, reads in
            reads.map { (name, $0) }
        }
        func samples(_ name: String, _ kind: MetricSample.Kind, _ help: String, _ value: (ReadStatistics) -> Int) -> [MetricSample] {
            files.map { MetricSample(name, kind, help, labels: [("file", $0)], Double(value($1))) }
        }
        return samples("intertwine_store_reads_total", .counter, "Reads of a database file.") { $0.finished }
            + samples("intertwine_store_reads_running", .gauge, "Reads that have a thread.") { $0.running }
            + samples("intertwine_store_reads_waiting", .gauge, "Reads that wait for a thread.") { $0.waiting }
            + samples("intertwine_store_refused_reads_total", .counter, "Reads turned away: too many waited, or they for too long.") {
                $0.refused
            }
    }

    private var checks: [MetricSample] {
        checkedFiles.flatMap { name, file in
            let progress = file.checkProgress
            let values: [(String, MetricSample.Kind, String, Double)] = [
                (
                    "intertwine_store_check_progress_ratio", .gauge, "How much of a database file the current check has read, from 0 to 1.",
                    progress.share
                ),
                (
                    "intertwine_store_checks_total", .counter, "Checks of a whole database file that found no damage.",
                    Double(progress.passes)
                ),
                (
                    "intertwine_store_damaged", .gauge, "1 if a database file is known to be damaged: nothing is written to it.",
                    progress.isDamaged ? 1 : 0
                ),
            ]
            return values.map { MetricSample($0.0, $0.1, $0.2, labels: [("file", name)], $0.3) }
        }
    }

    private var commits: [MetricSample] {
        guard let ledger = ledger?.statistics else { return [] }
        return [
            .counter("intertwine_ledger_commits_total", "Transactions of the ledger.", ledger.commits),
            .counter(
                "intertwine_ledger_units_total", "Units of work in the ledger's transactions; units by commits is the mean batch.",
                ledger.units),
            .counter("intertwine_ledger_failed_units_total", "Units of work that could not be written.", ledger.failed),
            .counter("intertwine_ledger_refused_units_total", "Units of work turned away because too many waited.", ledger.refused),
            .gauge("intertwine_ledger_queue_units", "Units of work that wait for the disk.", ledger.waiting),
            .gauge("intertwine_ledger_largest_batch_units", "The most units of work that shared one transaction.", ledger.largestGroup),
        ]
    }

    private var tracked: [MetricSample] {
        guard let state = trackers?.state else { return [] }
        let outcomes = [("answered", state.succeeded), ("failed", state.failed), ("given-up", state.abandoned)]
        return outcomes.map { outcome, count in
            MetricSample(
                "intertwine_tracker_calls_total", .counter, "Calls of trackers, by how they ended; those that failed are tried again.",
                labels: [("outcome", outcome)], Double(count))
        } + [
            .gauge("intertwine_tracker_calls_waiting", "Calls of trackers that are still to be answered.", state.summary.waiting),
            .gauge(
                "intertwine_tracker_calls_given_up", "Calls of trackers that were given up, of those that are kept.",
                state.summary.givenUp),
        ]
    }

    private var logs: [MetricSample] {
        [
            .counter(
                "intertwine_log_dropped_lines_total", "Lines of the log that nothing took in time.", sink.droppedLines),
            .counter(
                "intertwine_log_skipped_requests_total", "Requests without a line, as there were too many within a second.",
                accessLog.skippedRequests),
        ]
    }

    private static func images(_ metrics: ImageMetrics) -> [MetricSample] {
        let outcomes = Dictionary(uniqueKeysWithValues: metrics.requests.map { ($0.key.rawValue, $0.value) })
        return labelled("intertwine_image_requests_total", "Requests for images, by how they were answered.", "outcome", outcomes)
            + labelled("intertwine_image_downloads_total", "Finished downloads, by result.", "result", metrics.upstream)
            + labelled("intertwine_image_sized_failed_total", "Sized images that could not be made.", "reason", metrics.sizedFailed)
            + labelled(
                "intertwine_image_departed_waiters_total", "Waiters that left early, by the stage of their download.", "stage",
                metrics.cancelledWaiters)
            + labelled(
                "intertwine_image_aborted_downloads_total", "Downloads cancelled because no waiter was left, by stage.", "stage",
                metrics.aborted
            )
            + [
                .counter("intertwine_image_collapsed_requests_total", "Requests that another one's download served.", metrics.collapsed),
                .counter(
                    "intertwine_image_wasted_bytes_total", "Bytes that came after the last waiter had left.", metrics.bytesWastedAfterCancel
                ),
                .counter("intertwine_image_thrown_away_bytes_total", "Bytes of downloads that were given up.", metrics.bytesThrownAway),
                .counter("intertwine_image_received_bytes_total", "Bytes received from origins.", metrics.bytesReceived),
                .counter("intertwine_image_sized_total", "Sized images that were made.", metrics.sizedMade),
                .counter("intertwine_image_sized_aborted_total", "Resizes cancelled because no waiter was left.", metrics.sizedAborted),
                .counter("intertwine_image_retries_total", "Downloads that were tried again.", metrics.retries),
                .counter("intertwine_image_refreshes_total", "Stale images that were asked for again.", metrics.refreshes),
                .gauge("intertwine_image_downloads_in_flight", "Downloads under way.", metrics.inFlight),
                .gauge("intertwine_image_downloads_queued", "Downloads that wait for a place.", metrics.queued),
                .gauge("intertwine_image_waiters", "Requests that wait for an image.", metrics.waiters),
                .gauge("intertwine_image_buffer_bytes", "Bytes that downloads under way hold.", metrics.bufferBytes),
                .gauge("intertwine_image_resting_hosts", "Hosts that are not asked for now, after failures.", metrics.openCircuits),
                .gauge("intertwine_image_negative_entries", "Failures that are remembered.", metrics.negativeEntries),
            ] + cache("memory", metrics.memoryBytes, metrics.memoryEntries, metrics.memoryEvictions)
            + cache("disk", metrics.diskBytes, metrics.diskEntries, metrics.diskEvictions)
            + [
                .counter(
                    "intertwine_image_disk_write_failures_total", "Images that could not be written to disk.", metrics.diskWriteFailures),
                .counter("intertwine_image_disk_damaged_total", "Images found damaged on disk.", metrics.diskDamaged),
            ]
    }

    private static func cache(_ name: String, _ bytes: Int, _ entries: Int, _ evictions: Int) -> [MetricSample] {
        [
            .gauge("intertwine_image_\(name)_cache_bytes", "Bytes of images in the \(name) cache.", bytes),
            .gauge("intertwine_image_\(name)_cache_entries", "Images in the \(name) cache.", entries),
            .counter("intertwine_image_\(name)_cache_evictions_total", "Images that left the \(name) cache for others.", evictions),
        ]
    }

    private static func labelled(_ name: String, _ help: String, _ label: String, _ values: [String: Int]) -> [MetricSample] {
        values.sorted { $0.key < $1.key }.map { key, value in
            MetricSample(name, .counter, help, labels: [(label, key)], Double(value))
        }
    }
}

/// The metrics of remote sources: one series for each configured name.
private enum SourceSamples {
    static func read(_ polling: SourcePoller, now: Int64) -> [MetricSample] {
        polling.sources.flatMap { source in
            polling.registry[source.name].map { samples(of: $0, source.name, now: now) } ?? []
        }
    }

    private static func samples(of state: SourceState, _ name: String, now: Int64) -> [MetricSample] {
        let attempts = (["changed", "unchanged"] + SourceError.Cause.allCases.map(\.rawValue) + [SourceState.otherCause]).map { result in
            counter(
                "intertwine_source_attempts_total", "Synchronisations of a source, by how they ended.", name, state.attempts[result] ?? 0,
                ("result", result))
        }
        let changes = [("added", state.added), ("changed", state.changed), ("removed", state.removed)].map { change, count in
            counter("intertwine_source_changes_total", "Items that a source changed in the store.", name, count, ("change", change))
        }
        let success = state.lastSuccess.map { at in
            gauge(
                "intertwine_source_last_success_timestamp_seconds",
                "When a source was last found or brought in step, in seconds since 1970-01-01 UTC.", name, Double(at) / 1_000)
        }
        return attempts + changes + [
            gauge("intertwine_source_items", "Items of a source's last snapshot.", name, Double(state.items ?? 0)),
            gauge("intertwine_source_skipped_items", "Items left out of a source's last snapshot.", name, Double(state.skipped)),
            gauge(
                "intertwine_source_lag_seconds", "How long ago a source was last found or brought in step.", name,
                Double(state.lag(at: now)) / 1_000),
            gauge("intertwine_source_failures", "Failures of a source in a row.", name, Double(state.failures)),
        ] + (success.map { [$0] } ?? [])
    }

    private static func counter(_ name: String, _ help: String, _ source: String, _ value: Int, _ label: (String, String)) -> MetricSample {
        MetricSample(name, .counter, help, labels: [("source", source), label], Double(value))
    }

    private static func gauge(_ name: String, _ help: String, _ source: String, _ value: Double) -> MetricSample {
        MetricSample(name, .gauge, help, labels: [("source", source)], value)
    }
}
