internal import IntertwineSync

/// How the sources are doing, as metrics: one series for each configured name.
enum SourceSamples {
    static func read(_ polling: SourcePolling, now: Int64) -> [MetricSample] {
        polling.sources.flatMap { source in
            polling.board[source.name].map { samples(of: $0, source.name, now: now) } ?? []
        }
    }

    private static func samples(of state: SourceState, _ name: String, now: Int64) -> [MetricSample] {
        let attempts = (["changed", "unchanged"] + SourceFailure.Cause.allCases.map(\.rawValue) + [SourceState.otherCause]).map { result in
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
        MetricSample(name: name, kind: .counter, help: help, labels: [("source", source), label], value: Double(value))
    }

    private static func gauge(_ name: String, _ help: String, _ source: String, _ value: Double) -> MetricSample {
        MetricSample(name: name, kind: .gauge, help: help, labels: [("source", source)], value: value)
    }
}
