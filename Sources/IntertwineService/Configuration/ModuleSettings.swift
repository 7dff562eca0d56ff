internal import IntertwineHTTPServer
internal import IntertwineImages

// Readers for the settings of lower modules. Each module documents its own settings.

extension LogSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("log.format", &format)
        reader.read("log.level", &level)
        reader.read("log.requests", &requests)
        reader.read("log.requests-per-second", &requestsPerSecond, in: 1...1_000_000_000)
    }
}

extension MetricsSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("metrics.enabled", &isEnabled)
    }
}

extension SourceSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("sources.file", &file, allowed: "a file's path")
        reader.read(
            "sources.allowed-networks", &allowedNetworks, allowed: "networks such as 10.1.0.0/16 or fd00::/8", where: { Network($0) != nil }
        )
        reader.read("sources.allowed-ports", &allowedPorts, allowed: "ports from 1 to 65535", where: { $0 > 0 })
    }
}

extension TrackerSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("trackers.max-attempts", &maxAttempts, in: 1...100)
        reader.read("trackers.max-pending", &maxPending, in: 1...10_000_000)
    }
}

extension AdminSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("admin.enabled", &isEnabled)
        reader.read("admin.host", &host, allowed: "an IP address, or localhost", where: HTTPServerConfiguration.isAddress)
        reader.read("admin.port", &port, in: 0...65_535)
        reader.read(
            "admin.token", &token,
            allowed: "16 to 512 visible ASCII characters; or empty if admin.host (\(host)) is a loopback address or admin.jwt has keys",
            secret: true,
            where: { $0.isEmpty || (16...512).contains($0.utf8.count) && $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
        reader.read(
            "admin.max-import", &maxImport, allowed: "\(ByteCount.allowed), at least 1", where: { $0.bytes > 0 })
        reader.read("admin.import-timeout", &importTimeout, in: .seconds(1) ... .seconds(604_800))
        readTokens(&reader)
        var (unset, defaults) = (AdminSettings(), SettingsReader(nil))
        unset.readTokens(&defaults)
        jwt.checkKeys(&reader, "admin.jwt", defaults: defaults)
        let roles = Dictionary(grouping: [readRoles, editRoles, publishRoles].flatMap(Set.init)) { $0 }
        let shared = roles.filter { $0.value.count > 1 }.keys.sorted().joined(separator: ", ")
        reader.check(shared.isEmpty, "admin.jwt: read-roles, edit-roles and publish-roles must have different roles; shared: \(shared)")
        reader.check(
            !token.isEmpty || jwt.isEnabled || Self.isLoopback(host),
            "admin.token: must be set if admin.host is not a loopback address and admin.jwt has no keys; admin.host is '\(host)'")
    }

    private mutating func readTokens(_ reader: inout SettingsReader) {
        jwt.read(&reader, "admin.jwt", subject: "operator-claim")
        reader.read("admin.jwt.roles-claim", &rolesClaim, allowed: ClaimPath.allowed, where: { ClaimPath($0) != nil })
        reader.read("admin.jwt.read-roles", &readRoles, allowed: "texts of the claim")
        reader.read("admin.jwt.edit-roles", &editRoles, allowed: "texts of the claim")
        reader.read("admin.jwt.publish-roles", &publishRoles, allowed: "texts of the claim")
    }

    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return host == "localhost" || host == "::1" || parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

extension WebClientSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read("web-client.enabled", &isEnabled)
    }
}
