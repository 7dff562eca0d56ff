internal import CoreMetrics
internal import Synchronization

/// A number that goes up and down.
final class GaugeMetric: MeterHandler, RecorderHandler, RenderedMetric {
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
