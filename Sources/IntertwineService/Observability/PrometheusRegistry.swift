package import CoreMetrics
internal import Synchronization

/// The registry of the process's metrics: creates the handlers of swift-metrics, and writes their values in the Prometheus text format.
package final class PrometheusRegistry: MetricsFactory {
    /// Further ones are not counted, so that a mistake in a label cannot fill the memory.
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

    package init() {}

    package func describe(_ name: String, _ help: String) {
        state.withLock { $0.help[name] = help }
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        metric(label, "counter", suffix: "_total", dimensions) { CounterMetric() }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        metric(label, "gauge", suffix: "", dimensions) { GaugeMetric() }
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate
            ? metric(label, "histogram", suffix: "", dimensions) { HistogramMetric(bounds: HistogramMetric.sizes, scale: 1_000) }
            : metric(label, "gauge", suffix: "", dimensions) { GaugeMetric() }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        metric(label, "histogram", suffix: "_seconds", dimensions) { HistogramMetric(bounds: HistogramMetric.seconds, scale: 1e9) }
    }

    /// Series are never removed, because a counter that vanishes and returns looks like a restart.
    package func destroyCounter(_ handler: any CounterHandler) {}
    /// Does nothing, because series are never removed.
    package func destroyMeter(_ handler: any MeterHandler) {}
    /// Does nothing, because series are never removed.
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    /// Does nothing, because series are never removed.
    package func destroyTimer(_ handler: any TimerHandler) {}

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
            // If the name belongs to another type of metric, or the series limit is reached, the handler counts without being exported.
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

    /// `samples`: Further samples; samples of one name must be adjacent.
    package func text(with samples: [MetricSample] = []) -> String {
        let (families, help, refused) = state.withLock { ($0.families, $0.help, $0.refused) }
        var text = MetricText()
        for (name, family) in families.sorted(by: { $0.key < $1.key }) {
            text.begin(name, kind: family.kind, help: help[name] ?? name)
            for (labels, metric) in family.series { metric.render(name, labels, into: &text) }
        }
        let own = MetricSample.counter(
            "intertwine_metrics_dropped_series_total", "Series dropped because there were too many of one name.", refused)
        let groups = Dictionary(grouping: samples + [own], by: \.name)
        for (name, group) in groups.sorted(by: { $0.key < $1.key }) where families[name] == nil {
            guard let first = group.first else { continue }
            text.begin(name, kind: first.kind.rawValue, help: first.help)
            for sample in group { text.add(name, sample.labels, sample.value) }
        }
        return text.text
    }
}

private protocol RenderedMetric: AnyObject, Sendable {
    func render(_ name: String, _ labels: [(String, String)], into text: inout MetricText)
}

private final class CounterMetric: CounterHandler, RenderedMetric {
    private let cells = StripedCounter(width: 1)

    func increment(by amount: Int64) {
        cells.add(Int(amount), to: 0)
    }

    func reset() {
        cells.clear(0)
    }

    func render(_ name: String, _ labels: [(String, String)], into text: inout MetricText) {
        text.add(name, labels, Double(cells.sum(of: 0)))
    }
}

private final class GaugeMetric: MeterHandler, RecorderHandler, RenderedMetric {
    private let value = Mutex(0.0)

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { self.value.withLock { $0 = value } }

    func increment(by amount: Double) { value.withLock { $0 += amount } }

    func decrement(by amount: Double) { value.withLock { $0 -= amount } }

    func record(_ value: Int64) { set(Double(value)) }

    func record(_ value: Double) { set(value) }

    func render(_ name: String, _ labels: [(String, String)], into text: inout MetricText) {
        text.add(name, labels, value.withLock { $0 })
    }
}

private final class HistogramMetric: TimerHandler, RecorderHandler, RenderedMetric {
    static let seconds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    static let sizes: [Double] = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576]

    private let bounds: [Double]
    private let limits: [Int64]
    private let scale: Double
    private let cells: StripedCounter

    init(bounds: [Double], scale: Double) {
        self.bounds = bounds
        self.scale = scale
        limits = bounds.map { Int64($0 * scale) }
        cells = StripedCounter(width: bounds.count + 2)
    }

    func recordNanoseconds(_ duration: Int64) { add(duration) }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        let scaled = value * scale
        guard scaled.isFinite, abs(scaled) < 9e18 else { return }
        add(Int64(scaled))
    }

    private func add(_ value: Int64) {
        var bucket = 0
        while bucket < limits.count, value > limits[bucket] { bucket += 1 }
        let stripe = StripedCounter.stripe
        cells.add(1, to: bucket, stripe: stripe)
        cells.add(Int(value), to: limits.count + 1, stripe: stripe)
    }

    func render(_ name: String, _ labels: [(String, String)], into text: inout MetricText) {
        var count = 0
        for (bucket, bound) in (bounds + [.infinity]).enumerated() {
            count += cells.sum(of: bucket)
            text.add("\(name)_bucket", labels + [("le", MetricText.number(bound))], Double(count))
        }
        text.add("\(name)_sum", labels, Double(cells.sum(of: limits.count + 1)) / scale)
        // The count is the sum of the last bucket, because both must be equal.
        text.add("\(name)_count", labels, Double(count))
    }
}
