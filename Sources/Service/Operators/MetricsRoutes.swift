internal import HTTPServer
internal import HTTPTypes

/// `GET /metrics`.
struct MetricsRoutes: Sendable {
    let registry: PrometheusRegistry
    let samples: ServiceSamples

    var routes: [Route] {
        [
            Route(.get, "/metrics") { _ in
                let text = registry.text(with: await samples.read())
                return ServerResponse(
                    status: .ok, fields: [.contentType: MetricText.contentType, .cacheControl: "no-store"], body: Array(text.utf8))
            }
        ]
    }
}
