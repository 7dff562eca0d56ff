import CoreMetrics
import Foundation
import Testing

@testable import IntertwineService

@Suite("Metrics registry")
struct PrometheusRegistryTests {
    @Test("A counter contains all increments of concurrent threads")
    func counts() async {
        let registry = PrometheusRegistry()
        let counter = Counter(label: "things_total", dimensions: [("kind", "a")], factory: registry)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<10_000 { counter.increment(by: 3) } }
            }
        }
        #expect(registry.text().contains("things_total{kind=\"a\"} 240000\n"))
    }

    @Test("Two counters with the same name and labels are one series")
    func same() {
        let registry = PrometheusRegistry()
        Counter(label: "things", dimensions: [("a", "1"), ("b", "2")], factory: registry).increment()
        Counter(label: "things", dimensions: [("b", "2"), ("a", "1")], factory: registry).increment()
        #expect(registry.text().contains("things_total{a=\"1\",b=\"2\"} 2\n"))
    }

    @Test("A timer is a histogram in seconds with inclusive bucket bounds")
    func histogram() {
        let registry = PrometheusRegistry()
        let timer = Timer(label: "wait", factory: registry)
        for nanoseconds: Int64 in [1_000_000, 1_000_001, 20_000_000_000] { timer.recordNanoseconds(nanoseconds) }
        let text = registry.text()
        #expect(text.contains("# TYPE wait_seconds histogram\n"))
        #expect(text.contains("wait_seconds_bucket{le=\"0.001\"} 1\n"))
        #expect(text.contains("wait_seconds_bucket{le=\"0.0025\"} 2\n"))
        #expect(text.contains("wait_seconds_bucket{le=\"10\"} 2\n"))
        #expect(text.contains("wait_seconds_bucket{le=\"+Inf\"} 3\n"))
        #expect(text.contains("wait_seconds_count 3\n"))
        #expect(text.contains("wait_seconds_sum 20.002"))
    }

    @Test("A gauge increases and decreases; a recorder is a histogram of finite values")
    func gauge() {
        let registry = PrometheusRegistry()
        let meter = Meter(label: "open", factory: registry)
        meter.set(5)
        meter.decrement(by: 1.5)
        let recorder = Recorder(label: "size", dimensions: [], aggregate: true, factory: registry)
        recorder.record(5)
        for value in [Double.infinity, .nan, 1e300] { recorder.record(value) }
        let text = registry.text()
        #expect(text.contains("\nopen 3.5\n"))
        #expect(text.contains("size_bucket{le=\"4\"} 0\n"))
        #expect(text.contains("size_bucket{le=\"16\"} 1\n"))
        #expect(text.contains("size_sum 5\n"))
    }

    @Test("The number of series per name is limited, and dropped series are counted")
    func bounded() {
        let registry = PrometheusRegistry()
        for number in 0..<(PrometheusRegistry.seriesLimit + 7) {
            Counter(label: "things", dimensions: [("id", String(number))], factory: registry).increment()
        }
        let lines = registry.text().split(separator: "\n")
        #expect(lines.filter { $0.hasPrefix("things_total{") }.count == PrometheusRegistry.seriesLimit)
        #expect(lines.contains("intertwine_metrics_dropped_series_total 7"))
    }

    @Test("Labels and help texts are escaped and stay on one line", arguments: ["a\"b", "a\\b", "a\nb"])
    func escapes(value: String) throws {
        let registry = PrometheusRegistry()
        registry.describe("things_total", "Things.\nMore \\ things.")
        Counter(label: "things", dimensions: [("id", value)], factory: registry).increment()
        let lines = registry.text().split(separator: "\n")
        #expect(lines.contains(#"# HELP things_total Things.\nMore \\ things."#))
        let line = try #require(lines.first { $0.hasPrefix("things_total{") })
        #expect(line.hasSuffix("\"} 1"))
        #expect(line.filter { $0 == "\"" }.count == (value.contains("\"") ? 3 : 2))
    }

    @Test("Labels become valid metric names", arguments: [("a.b-c", "a_b_c"), ("1x", "_1x"), ("", "_"), ("größe", "gr__e")])
    func names(label: String, name: String) {
        #expect(MetricText.name(label) == name)
    }
}
