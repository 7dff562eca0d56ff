import Foundation
import TestSupport
import Testing

@Suite("Metrics and logs from outside")
struct ObservabilityTests {
    @Test("The Prometheus parser reads the metrics, and they count the requests")
    func metrics() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3), settings: [RunningService.tokenSetting])
            for _ in 0..<5 { #expect(try service.get("/feed").status == 200) }
            #expect(try service.ask("HEAD", "/feed").status == 200)
            #expect(try service.get("/nowhere/\(UUID())").status == 404)
            #expect(try service.get("/feed?limit=x").status == 400)
            let response = try service.admin("GET", "/metrics")
            #expect(response["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let samples = try PrometheusParser.samples(in: response.text)
            func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
                samples.first { $0.name == name && $0.labels == labels }?.value
            }
            #expect(value("intertwine_http_requests_total", ["route": "/feed", "method": "GET", "status": "200"]) == 5)
            #expect(value("intertwine_http_requests_total", ["route": "/feed", "method": "HEAD", "status": "200"]) == 1)
            #expect(value("intertwine_http_requests_total", ["route": "none", "method": "GET", "status": "404"]) == 1)
            #expect(value("intertwine_http_requests_total", ["route": "/feed", "method": "GET", "status": "400"]) == 1)
            #expect(value("intertwine_http_request_duration_seconds_count", ["route": "/feed"]) == 7)
            #expect(value("intertwine_http_connections_accepted_total", ["listener": "service"]) == 8)
            #expect(value("intertwine_feed_page_cache_misses_total") == 1)
            #expect(value("intertwine_feed_page_cache_hits_total") == 5)
            #expect(value("intertwine_feed_page_cache_entries") == 1)
            #expect(value("intertwine_feed_cell_cache_misses_total") == 3 && value("intertwine_feed_cell_cache_hits_total") == 0)
            #expect(value("intertwine_feed_cell_cache_entries") == 3 && value("intertwine_feed_cell_cache_evictions_total") == 0)
            #expect((value("intertwine_feed_cell_cache_bytes") ?? 0) > 1_000)
            #expect((value("process_resident_memory_bytes") ?? 0) > 1_000_000)
            #expect((value("process_start_time_seconds") ?? 0) > 1_700_000_000)
            #expect(value("intertwine_image_downloads_in_flight") == 0)
            #expect(value("intertwine_build_info", ["version": "0.1.0"]) == 1)
            // Names follow the Prometheus conventions for units and types.
            for sample in samples {
                let isOurs = sample.family.hasPrefix("intertwine_") || sample.family.hasPrefix("process_")
                #expect(isOurs, "\(sample.family)")
                if sample.type == "counter" { #expect(sample.name.hasSuffix("_total"), "\(sample.name)") }
                if sample.type == "histogram" { #expect(sample.family.hasSuffix("_seconds"), "\(sample.name)") }
                #expect(!sample.name.contains("milliseconds"))
            }
            #expect(samples.allSatisfy { $0.type != "unknown" && $0.type != "untyped" })
        }
    }

    @Test("All files of the web client have one route label")
    func viewer() async throws {
        try await offPool {
            let service = try RunningService()
            #expect(try service.get("/").status == 200)
            for path in ["main.mjs", "page.css", "icon.svg"] { #expect(try service.get("/web-client/\(path)").status == 200) }
            #expect(try service.get("/web-client/nothing").status == 404)
            let samples = try PrometheusParser.samples(in: try service.admin("GET", "/metrics").text)
            let counted = samples.filter {
                $0.name == "intertwine_http_requests_total" && $0.labels["route"]?.contains("web-client") == true
            }
            #expect(
                counted.map { "\($0.labels["route"] ?? "") \($0.labels["status"] ?? "") \($0.value)" }.sorted() == [
                    "/web-client/{file} 200 3.0", "/web-client/{file} 404 1.0",
                ])
        }
    }

    @Test("Clients cannot increase the number of metric series")
    func bounded() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3), settings: [RunningService.tokenSetting])
            func series() throws -> Int { try PrometheusParser.samples(in: try service.admin("GET", "/metrics").text).count }
            _ = try service.get("/nowhere")
            _ = try service.get("/cells/user:u0/selection")
            _ = try service.ask("BREW", "/feed")
            _ = try series()
            let before = try series()
            for number in 0..<30 {
                _ = try service.get("/nowhere/\(number)")
                _ = try service.get("/cells/user:u\(number)/selection")
                _ = try service.ask("BREW\(number)", "/feed")
            }
            #expect(try series() == before)
        }
    }

    @Test("Each request has one log line with id and trace, and without private data", arguments: ["json", "text"])
    func accessLog(format: String) async throws {
        try await offPool {
            let service = try RunningService(
                items: Items.users(3), settings: [RunningService.tokenSetting, "log.format=\(format)", "signing.key=\(Self.key)"])
            let trace = "0af7651916cd43dd8448eb211c80319c"
            for path in ["/feed?limit=2&note=secret-query", "/feed?limit=2&note=secret-query"] {
                _ = try service.get(
                    path,
                    fields: [
                        "User-Agent: secret-agent", "X-Request-ID: 6f1f7b7e-0b5a-4c7e-8f0e-000000000001", "Cookie: secret-cookie",
                        "X-Viewer-ID: secret-viewer", "traceparent: 00-\(trace)-b7ad6b7169203331-01",
                    ])
            }
            _ = try service.admin("GET", "/healthz")
            let line = try service.process.line(containing: "/healthz")
            // Lines of two threads can be in either order.
            while service.process.lines.filter({ $0.contains("/feed") }).count < 2 { _ = try #require(try service.process.nextLine()) }
            let lines = service.process.lines
            let feed = lines.filter { $0.contains("/feed") }
            #expect(feed.count == 2)
            for one in feed {
                #expect(one.contains("6f1f7b7e-0b5a-4c7e-8f0e-000000000001"))
                #expect(one.contains("00-\(trace)-") && !one.contains("b7ad6b7169203331"))
                #expect(one.contains("127.0.0.0/24"))
            }
            for word in ["secret", RunningService.token, Self.key, "127.0.0.1/"] {
                #expect(!lines.contains { $0.contains(word) }, "\(word)")
            }
            if format == "json" {
                let object = try JSON(line)
                #expect(object["method"]?.text == "GET")
                #expect(object["route"]?.text == "/healthz")
                #expect(object["status"]?.number == 200)
                #expect((object["bytes"]?.number ?? 0) > 100)
                #expect(object["duration_ms"]?.value is NSNumber)
            } else {
                #expect(line.contains(" info request method=GET route=/healthz status=200 duration_ms="))
            }
        }
    }

    private static let key = String(repeating: "5e", count: 32)
}
