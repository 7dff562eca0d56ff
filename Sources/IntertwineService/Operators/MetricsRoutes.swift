internal import HTTPTypes
internal import IntertwineHTTPServer

struct MetricsRoutes: Sendable {
    let registry: PrometheusRegistry
    let samples: @Sendable () async -> [MetricSample]

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
public struct AdminSettings: Sendable, SettingsSection {
    @Setting(
        "admin.enabled",
        "Enables the listener. Without it there are no metrics and no admin API, and the audit log contains only imports and synchronizations."
    )
    public var isEnabled = true
    @Setting(
        "admin.host", "IP address. Keep loopback if possible: the admin listener is not for the public.",
        allowed: "an IP address, or localhost", where: HTTPServerConfiguration.isAddress)
    public var host = "127.0.0.1"
    @Setting("admin.port", "TCP port; 0 picks a free one.", in: 0...65_535)
    public var port = 8081
    @Setting(
        "admin.token",
        """
        Token of requests, as "Authorization: Bearer …", at least 16 characters. Required if host is not a loopback address and jwt has no \
        keys. The environment is a better location than this file.
        """, allowed: "16 to 512 visible ASCII characters; or empty if admin.host is a loopback address or admin.jwt has keys",
        hidden: { _ in true },
        where: { $0.isEmpty || (16...512).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
    public var token = ""
    @Setting(
        "admin.max-import", "Bytes of one import by POST /admin/items [413].", allowed: "\(ByteCount.allowed), at least 1",
        where: { $0.bytes > 0 })
    public var maxImport: ByteCount = .gibibytes(1)
    @Setting("admin.import-timeout", "Timeout of one import [408].", in: .seconds(1) ... .seconds(604_800))
    public var importTimeout: Duration = .seconds(3_600)
    /// The JSON Web Tokens that are accepted beside ``token`` (`admin.jwt.*`).
    public var jwt = TokenSettings("admin.jwt")
    @Setting(
        "admin.jwt.operator-claim", "Claim with the operator's name in the audit log.", allowed: ClaimPath.allowed, where: ClaimPath.isValid
    )
    public var operatorClaim = "sub"
    @Setting(
        "admin.jwt.roles-claim", "Claim with the operator's roles, a text or a list.", allowed: ClaimPath.allowed, where: ClaimPath.isValid)
    public var rolesClaim = "roles"
    @Setting("admin.jwt.read-roles", "Texts of that claim that permit reads.", allowed: "texts of the claim")
    public var readRoles = ["read"]
    @Setting(
        "admin.jwt.edit-roles", "Texts that also permit writes of items, operations, imports and synchronizations.",
        allowed: "texts of the claim")
    public var editRoles = ["edit"]
    @Setting(
        "admin.jwt.publish-roles", "Texts that also permit takedowns and releases, purges of images and erasures of viewers.",
        allowed: "texts of the claim")
    public var publishRoles = ["publish"]

    func check(_ faults: inout SettingFaults) {
        jwt.checkKeys(of: self, &faults)
        let roles = Dictionary(grouping: [readRoles, editRoles, publishRoles].flatMap(Set.init)) { $0 }
        let shared = roles.filter { $0.value.count > 1 }.keys.sorted().joined(separator: ", ")
        faults.check(shared.isEmpty, "admin.jwt: read-roles, edit-roles and publish-roles must have different roles; shared: \(shared)")
        faults.check(
            !token.isEmpty || jwt.isEnabled || Self.isLoopback(host),
            "admin.token: must be set if admin.host is not a loopback address and admin.jwt has no keys; admin.host is '\(host)'")
    }

    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || host == "::1" || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    var tokenRules: TokenRules? {
        var rules = jwt.rules(subject: operatorClaim)
        rules?.roles = ClaimPath(rolesClaim)
        rules?.isSubject = TokenRules.isName
        return rules
    }
}
