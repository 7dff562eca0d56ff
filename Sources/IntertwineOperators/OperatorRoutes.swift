internal import HTTPTypes
public import IntertwineDeclarations
package import IntertwineFeed
internal import IntertwineHTTPServer
package import IntertwineImages
package import IntertwineObservability
package import IntertwineRouting
package import IntertwineStorage
package import IntertwineSync

/// The operators' API, as one list of routes.
package struct OperatorRoutes: Sendable {
    /// Nil where a program brought a store of another kind: then nothing that writes items is served.
    private let store: (any ItemStore)?
    private let location: any ItemLocation
    private let kinds: ItemKinds
    private let settings: AdminSettings
    /// Nil where a program brought a ledger that keeps no totals.
    private let archive: (any LedgerArchive)?
    private let prefixes: [String]
    private let figures: @Sendable () async throws -> [String: CampaignStatistics]
    private let images: ImageNetworkManager
    private let polling: SourcePoller?
    private let owners: @Sendable (_ viewer: String) -> [String]
    private let erased: @Sendable (_ viewer: String) -> Void

    /// - Parameters:
    ///   - store: with its routes the items'; nil where nothing that writes items is to be served.
    ///   - location: where it is.
    ///   - archive: with its routes the reports; nil for none.
    ///   - prefixes: what the ids of advertisements' cells begin with, before the colon.
    ///   - figures: how far campaigns have come, by their ids.
    ///   - polling: nil where no sources can be kept in step with.
    ///   - owners: what idempotency keys of a viewer are kept under.
    ///   - erased: told who was erased.
    package init(
        store: (any ItemStore)?, location: any ItemLocation, kinds: ItemKinds, settings: AdminSettings, archive: (any LedgerArchive)?,
        prefixes: [String], reportQuery: @escaping @Sendable () async throws -> [String: CampaignStatistics], images: ImageNetworkManager,
        polling: SourcePoller?,
        owners: @escaping @Sendable (_ viewer: String) -> [String], onErasure: @escaping @Sendable (_ viewer: String) -> Void
    ) {
        (self.store, self.location, self.kinds, self.settings) = (store, location, kinds, settings)
        (self.archive, self.prefixes, self.figures, self.images, self.polling) = (archive, prefixes, reportQuery, images, polling)
        (self.owners, self.erased) = (owners, onErasure)
    }

    package var routes: [Route] {
        var routes: [Route] = []
        if let store {
            routes += ItemRoutes(store: store, kinds: kinds).routes + TakedownRoutes(store: store, kinds: kinds).routes
            routes += OperationRoutes(store: store, kinds: kinds).routes
            routes += ImportRoutes(location: location, kinds: kinds, settings: settings).routes
        }
        routes += PurgeRoutes(manager: images).routes
        if let archive {
            routes += ReportRoutes(archive: archive, prefixes: prefixes, figures: figures).routes
            routes += ViewerErasureRoutes(archive: archive, owners: owners, erased: erased).routes
        }
        if let polling { routes += SourceRoutes(polling: polling).routes }
        return routes
    }
}

/// `GET /metrics`.
package struct MetricsRoutes: Sendable {
    private let registry: PrometheusRegistry
    private let samples: @Sendable () async -> [MetricSample]

    /// - Parameter samples: what the parts of the service count themselves.
    package init(registry: PrometheusRegistry, samples: @escaping @Sendable () async -> [MetricSample]) {
        (self.registry, self.samples) = (registry, samples)
    }

    package var routes: [Route] {
        let operation = APIOperation(
            "getMetrics", tag: "Health", "Metrics for Prometheus", "The text format, version 0.0.4.",
            responses: [
                .json(
                    .ok, "The metrics.", .string, [.noStore], type: MetricText.contentType,
                    example: #""process_open_fds 23\n""#),
                .notModified,
            ])
        return [
            Route(.get, "/metrics", operation) { _ in
                let text = registry.text(with: await samples())
                return ServerResponse(
                    status: .ok, fields: [.contentType: MetricText.contentType, .cacheControl: "no-store"], body: Array(text.utf8))
            }
        ]
    }
}

/// `admin.*`: the operators' listener.
public struct AdminSettings: Sendable {
    /// Whether there is one at all.
    public var isServed = true
    public var host = "127.0.0.1"
    public var port = 8081
    /// What a request must carry as `Authorization: Bearer`; empty for nothing, on a loopback address alone.
    public var token = ""
    /// Bytes of one import.
    public var importLimit: ByteCount = .gibibytes(1)
    /// How long one import may take.
    public var importDeadline: Duration = .seconds(3_600)

    public init() {}
}
