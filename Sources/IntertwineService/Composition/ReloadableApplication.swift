internal import IntertwineAds
internal import IntertwineCells
internal import IntertwineDeclarations
internal import IntertwineFeed
internal import IntertwineObservability
internal import IntertwineRouting
internal import IntertwineSync
internal import Logging
internal import Synchronization

/// The current composition, and its replacement by a new one.
final class ReloadableApplication: Sendable {
    private struct State {
        var configuration: ServiceConfiguration
        var composition: Application
        /// The stamp of the campaigns file that was read.
        var campaigns: FileStamp?
        /// The sequence number of the composition.
        var number = 0
    }

    private let compose: @Sendable (ServiceConfiguration) throws -> Application
    private let check: @Sendable (Application) async throws -> @Sendable () -> Void
    private let router: Router
    private let control: LogControl
    private let logger: Logger
    private let state: Mutex<State>
    /// The stamps of files that are read at the start only, by the setting that names them.
    private let stamps: [String: FileStamp]

    /// - Parameters:
    ///   - router: The router of the public listener, which gets the current routes.
    ///   - compose: Creates a composition; throws if the configuration names unknown cells or commands.
    ///   - check: Called before a composition is activated; throws if it conflicts with the store. The result activates it and must not block.
    init(
        _ configuration: ServiceConfiguration, router: Router, control: LogControl, logger: Logger,
        compose: @escaping @Sendable (ServiceConfiguration) throws -> Application,
        check: @escaping @Sendable (Application) async throws -> @Sendable () -> Void
    ) throws {
        let campaigns = configuration.campaigns.file.isEmpty ? nil : FileStamp(path: configuration.campaigns.file)
        let composition = try compose(configuration)
        (self.compose, self.check, self.router, self.control, self.logger) = (compose, check, router, control, logger)
        stamps = Self.stamps(configuration)
        state = Mutex(State(configuration: configuration, composition: composition, campaigns: campaigns))
        router.update(RouteTable(composition.routes))
    }

    var current: Application { state.withLock { $0.composition } }

    /// Checks the first composition against the store, and activates it. Throws `ConfigurationError` with all conflicts, and `StoreError`.
    func checkCurrent() async throws { try await check(current)() }

    var configuration: ServiceConfiguration { state.withLock { $0.configuration } }

    /// Applies the settings of a new configuration that can change at run time, atomically for requests that begin afterwards.
    ///
    /// - Throws: An error if the configuration cannot be composed, or conflicts with the store; the previous one stays active.
    func change(to updated: ServiceConfiguration) async throws {
        let old = configuration
        let changed = zip(old.settings, updated.settings).filter { $0.0.value != $0.1.value }.map(\.1.key)
        var applied = changed.filter(Self.canChange)
        // The contents of the campaigns file are applied even if its name did not change.
        let campaigns = updated.campaigns.file.isEmpty ? nil : FileStamp(path: updated.campaigns.file)
        if campaigns != state.withLock({ $0.campaigns }), !applied.contains("campaigns.file") { applied.append("campaigns.file") }
        let files = Self.stamps(old)
        let unchangeable =
            changed.filter { !Self.canChange($0) } + stamps.keys.sorted().filter { !changed.contains($0) && files[$0] != stamps[$0] }
        let next = old.applying(updated)
        if !applied.isEmpty {
            try await replace { old, _ in (old.applying(updated), campaigns) }
            control.apply(next.log)
        }
        logger.notice("configuration reloaded", metadata: ["changed": "\(applied.joined(separator: " "))"])
        if !unchangeable.isEmpty {
            logger.warning("settings that require a restart", metadata: ["settings": "\(unchangeable.joined(separator: " "))"])
        }
    }

    /// Recreates the composition with the current configuration, because data outside of it has changed, such as the signing keys.
    ///
    /// - Throws: The errors of ``change(to:)``.
    func renew() async throws {
        try await replace { ($0, $1) }
    }

    /// Composes and activates a change of the current configuration; repeats it if another change was activated in the meantime.
    private func replace(_ change: (ServiceConfiguration, FileStamp?) -> (ServiceConfiguration, FileStamp?)) async throws {
        while true {
            let old = state.withLock { $0 }
            let (configuration, campaigns) = change(old.configuration, old.campaigns)
            let composition = try compose(configuration)
            let activate = try await check(composition)
            let isFirst = state.withLock { state in
                guard state.number == old.number else { return false }
                state = State(configuration: configuration, composition: composition, campaigns: campaigns, number: old.number + 1)
                router.update(RouteTable(composition.routes))
                activate()
                return true
            }
            if isFirst { return }
        }
    }

    private static func stamps(_ configuration: ServiceConfiguration) -> [String: FileStamp] {
        ["kinds.file": configuration.kinds.file, "sources.file": configuration.sources.file]
            .filter { !$0.value.isEmpty }.compactMapValues { FileStamp(path: $0) }
    }

    private static let changeable = [
        "actions.", "ads.", "campaigns.file", "cells.", "events.", "feed.", "log.", "ledger.retention", "server.public-url",
        "server.trusted-proxies", "viewers.",
    ]

    /// Returns true if a setting can change while the service runs.
    static func canChange(_ key: String) -> Bool {
        // Addresses that are stored in one form must not be stored in another one.
        // Kinds are not in the list either, because items were imported by their rules.
        // The verification of tokens lives as long as the process.
        key != "events.address" && !key.hasPrefix("viewers.jwt.")
            && changeable.contains { key == $0 || $0.hasSuffix(".") && key.hasPrefix($0) }
    }
}

extension ServiceConfiguration {
    /// Returns this configuration with the changeable settings of another one.
    fileprivate func applying(_ updated: ServiceConfiguration) -> ServiceConfiguration {
        var next = self
        next.actions = updated.actions
        next.events = updated.events
        next.events.address = events.address
        next.feed = updated.feed
        next.campaigns.file = updated.campaigns.file
        next.viewers = updated.viewers
        (next.viewers.jwt, next.viewers.attributeClaims) = (viewers.jwt, viewers.attributeClaims)
        next.log = updated.log
        next.ledger.retention = updated.ledger.retention
        next.server.publicURL = updated.server.publicURL
        next.server.trustedProxies = updated.server.trustedProxies
        next.origins = origins.filter { !ReloadableApplication.canChange($0.key) }
        next.origins.merge(updated.origins.filter { ReloadableApplication.canChange($0.key) }) { $1 }
        return next
    }
}
