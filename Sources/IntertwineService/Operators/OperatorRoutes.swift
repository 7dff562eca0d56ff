internal import HTTPTypes
internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import IntertwineImages
internal import IntertwineStorage

struct OperatorRoutes: Sendable {
    private let store: any ItemStore
    private let location: any ItemLocation
    private let kinds: ItemKinds
    private let described: [any ItemKind]
    private let settings: AdminSettings
    private let archive: any LedgerArchive
    private let prefixes: [String]
    private let figures: @Sendable () async throws -> [String: CampaignStatistics]
    private let images: ImageNetworkManager
    private let polling: SourcePoller
    private let owners: @Sendable (_ viewer: String) -> [String]
    private let erased: @Sendable (_ viewer: String) -> Void

    init(
        store: any ItemStore, location: any ItemLocation, kinds: ItemKinds, described: [any ItemKind] = [], settings: AdminSettings,
        archive: any LedgerArchive, prefixes: [String], reportQuery: @escaping @Sendable () async throws -> [String: CampaignStatistics],
        images: ImageNetworkManager,
        polling: SourcePoller,
        owners: @escaping @Sendable (_ viewer: String) -> [String], onErasure: @escaping @Sendable (_ viewer: String) -> Void
    ) {
        (self.store, self.location, self.kinds, self.described, self.settings) = (store, location, kinds, described, settings)
        (self.archive, self.prefixes, self.figures, self.images, self.polling) = (archive, prefixes, reportQuery, images, polling)
        (self.owners, self.erased) = (owners, onErasure)
    }

    var routes: [Route] {
        ItemRoutes(store: store, kinds: kinds, described: described).routes
            + KindRoutes(kinds: kinds).routes
            + TakedownRoutes(store: store, kinds: kinds).routes
            + OperationRoutes(store: store, kinds: kinds).routes
            + ImportRoutes(location: location, kinds: kinds, settings: settings).routes
            + PurgeRoutes(manager: images).routes
            + ReportRoutes(archive: archive, prefixes: prefixes, figures: figures).routes
            + ViewerErasureRoutes(archive: archive, owners: owners, erased: erased).routes
            + SourceRoutes(polling: polling).routes
    }
}

struct MetricsRoutes: Sendable {
    private let registry: PrometheusRegistry
    private let samples: @Sendable () async -> [MetricSample]

    init(registry: PrometheusRegistry, samples: @escaping @Sendable () async -> [MetricSample]) {
        (self.registry, self.samples) = (registry, samples)
    }

    var routes: [Route] {
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

/// The settings `admin.*` of the admin listener.
///
/// ```swift
/// var admin = AdminSettings()
/// admin.port = 9_081
/// admin.token = token
/// admin.jwt.jwksURL = "https://login.example.com/.well-known/jwks.json"
/// ```
public struct AdminSettings: Sendable {
    /// A Boolean value indicating whether the admin listener is started.
    public var isEnabled = true
    /// The address of the admin listener.
    public var host = "127.0.0.1"
    /// The port of the admin listener.
    public var port = 8081
    /// The token that a request must carry as `Authorization: Bearer`; empty if none is required, on a loopback address only.
    public var token = ""
    /// The JSON Web Tokens that are accepted beside ``token``.
    public var jwt = TokenSettings()
    /// The path of the claim with the roles of an operator.
    public var rolesClaim = "roles"
    /// The texts of the claim that permit reads, also edits, and also what is published at once.
    public var readRoles = ["read"]
    /// The texts of the claim that also permit edits.
    public var editRoles = ["edit"]
    /// The texts of the claim that also permit changes that are published at once.
    public var publishRoles = ["publish"]
    /// The maximum size of one import, in bytes.
    public var maxImport: ByteCount = .gibibytes(1)
    /// The time limit of one import.
    public var importTimeout: Duration = .seconds(3_600)

    /// Creates settings with the default values: a listener on the loopback address that requires no token.
    public init() {}

    var tokenRules: TokenRules? {
        var rules = jwt.rules()
        rules?.roles = ClaimPath(rolesClaim)
        rules?.isSubject = TokenRules.isName
        return rules
    }
}
