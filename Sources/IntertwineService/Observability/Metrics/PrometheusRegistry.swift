public import CoreMetrics
internal import Synchronization

/// The process's metrics: makes the handlers behind swift-metrics' types, and writes what they counted in the Prometheus text format.
///
/// Bootstrap `MetricsSystem` with it to have libraries' metrics shown as well.
public final class PrometheusRegistry: MetricsFactory {
    /// Sets of labels under one name. What comes beyond them is counted nowhere, so that no mistake in a label fills the memory.
    static let seriesLimit = 2_000

    private struct Family {
        let kind: String
        var series: [(labels: [(String, String)], metric: any RenderedMetric)] = []
        var index: [String: Int] = [:]
    }

    private struct State {
        var families: [String: Family] = [:]
        var help: [String: String] = [:]
        var refused = 0
    }

    private let state = Mutex(State())

    public init() {}

    /// Says what a metric counts.
    func describe(_ name: String, _ help: String) {
        state.withLock { $0.help[name] = help }
    }

    public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        metric(label, "counter", suffix: "_total", dimensions) { CounterMetric() }
    }

    public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        metric(label, "gauge", suffix: "", dimensions) { GaugeMetric() }
    }

    public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate
            ? metric(label, "histogram", suffix: "", dimensions) { HistogramMetric(bounds: HistogramMetric.sizes, scale: 1_000) }
            : metric(label, "gauge", suffix: "", dimensions) { GaugeMetric() }
    }

    public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        metric(label, "histogram", suffix: "_seconds", dimensions) { HistogramMetric(bounds: HistogramMetric.seconds, scale: 1e9) }
    }

    /// Series stay: a counter that vanished and came back would look like a restart.
    public func destroyCounter(_ handler: any CounterHandler) {}
    public func destroyMeter(_ handler: any MeterHandler) {}
    public func destroyRecorder(_ handler: any RecorderHandler) {}
    public func destroyTimer(_ handler: any TimerHandler) {}

    private func metric<Metric: RenderedMetric>(
        _ label: String, _ kind: String, suffix: String, _ dimensions: [(String, String)], _ make: () -> Metric
    ) -> Metric {
        let plain = MetricText.name(label)
        let name = plain.hasSuffix(suffix) ? plain : plain + suffix
        let labels = dimensions.map { (MetricText.name($0.0), $0.1) }.sorted { $0.0 < $1.0 }
        let key = labels.map { "\($0.0)\u{0}\($0.1)" }.joined(separator: "\u{0}")
        return state.withLock { state in
            var family = state.families[name] ?? Family(kind: kind)
            if let index = family.index[key], let known = family.series[index].metric as? Metric { return known }
            let metric = make()
            // A name that another kind of metric has taken, and one series too many, are counted where nobody looks.
            guard family.kind == kind, family.index[key] == nil, family.series.count < Self.seriesLimit else {
                state.refused += 1
                return metric
            }
            family.index[key] = family.series.count
            family.series.append((labels, metric))
            state.families[name] = family
            return metric
        }
    }

    /// All metrics as text, in the order of their names.
    ///
    /// - Parameter samples: what else there is to tell; samples of one name stand together.
    func text(with samples: [MetricSample] = []) -> String {
        let (families, help, refused) = state.withLock { ($0.families, $0.help, $0.refused) }
        var text = MetricText()
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text.begin(name, kind: family.kind, help: help[name] ?? name)
            for (labels, metric) in family.series { metric.render(name, labels, into: &text) }
        }
        let own = MetricSample(
            name: "intertwine_metrics_refused_series_total", kind: .counter,
            help: "Series that were not taken, because there were too many.",
            value: Double(refused))
        let groups = Dictionary(grouping: samples + [own], by: \.name)
        for (name, group) in groups.sorted(by: { $0.key < $1.key }) where families[name] == nil {
            guard let first = group.first else { continue }
            text.begin(name, kind: first.kind.rawValue, help: first.help)
            for sample in group { text.add(name, sample.labels, sample.value) }
        }
        return text.text
    }
}
