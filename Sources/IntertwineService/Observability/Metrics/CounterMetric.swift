internal import CoreMetrics

/// A number that only grows.
final class CounterMetric: CounterHandler, RenderedMetric {
    private let cells = StripedCells(width: 1)

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
