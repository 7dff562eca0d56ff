internal import CoreMetrics

/// How often values fell below each of a few bounds.
///
/// Durations are counted in nanoseconds and shown in seconds; other values are shown as they were recorded, to a thousandth.
final class HistogramMetric: TimerHandler, RecorderHandler, RenderedMetric {
    /// Seconds: from an answer out of memory to a picture from a slow origin.
    static let seconds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
    ]
    static let sizes: [Double] = [1, 4, 16, 64, 256, 1_024, 4_096, 16_384, 65_536, 262_144, 1_048_576]

    private let bounds: [Double]
    /// The bounds in the unit that is counted in.
    private let limits: [Int64]
    private let scale: Double
    private let cells: StripedCells

    /// - Parameters:
    ///   - bounds: ascending, in the unit that is shown.
    ///   - scale: how many of the unit that is counted in make one of the unit that is shown.
    init(bounds: [Double], scale: Double) {
        self.bounds = bounds
        self.scale = scale
        limits = bounds.map { Int64($0 * scale) }
        cells = StripedCells(width: bounds.count + 2)
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
        let stripe = StripedCells.stripe
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
        // The same sum as the last bucket's, or a reader would find the two at odds.
        text.add("\(name)_count", labels, Double(count))
    }
}
