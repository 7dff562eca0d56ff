internal import HTTPTypes
internal import IntertwineHTTPServer
internal import IntertwineObservability
internal import IntertwineRouting

/// `GET /metrics`.
struct MetricsRoutes: Sendable {
    let registry: PrometheusRegistry
    let samples: ServiceSamples

    var routes: [Route] {
        let operation = APIOperation(
            "getMetrics", tag: "Health", "Metrics for Prometheus", "The text format, version 0.0.4.",
            answers: [
                .json(
                    .ok, "The metrics.", .string, [.noStore], type: MetricText.contentType,
                    example: #""process_open_fds 23\n""#),
                .notModified,
            ])
        return [
            Route(.get, "/metrics", operation) { _ in
                let text = registry.text(with: await samples.read())
                return ServerResponse(
                    status: .ok, fields: [.contentType: MetricText.contentType, .cacheControl: "no-store"], body: Array(text.utf8))
            }
        ]
    }
}
