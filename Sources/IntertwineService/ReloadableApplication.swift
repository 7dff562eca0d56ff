internal import IntertwineDeclarations
internal import IntertwineFeed
internal import IntertwineObservability
internal import IntertwineRouting
internal import IntertwineSync
internal import Logging
internal import Synchronization

/// What follows from a configuration and can be made anew while requests go on.
struct Application: Sendable {
    /// Those of the public listener.
    let routes: [Route]
    /// The same, to be looked up in.
    let table: RouteTable
    let feeds: FeedCatalogue
    let campaigns: Campaigns
    /// Where those of the file are declared; nil without one.
    let campaignsFile: CampaignsFile?
    let pages: PageCache
    let cells: RenderedCellCache
    let factories: CellFactories
    /// What is kept of addresses in the access log.
    let privacy: AddressPrivacy
    let trackerCalls: TrackerCalls
}

/// The composition in force, and its exchange for another one.
final class ReloadableApplication: Sendable {
    private struct State {
        var configuration: ServiceConfiguration
        var composition: Application
        /// The file of the campaigns as it was.
        var campaigns: FileStamp?
        /// Which one it is.
        var number = 0
    }

    private let compose: @Sendable (ServiceConfiguration) throws -> Application
    private let check: @Sendable (Application) async throws -> Void
    private let router: Router
    private let control: LogControl
    private let logger: Logger
    private let state: Mutex<State>
    /// The files that are read at the start alone, as they were then, by the setting that names them.
    private let stamps: [String: FileStamp]

    /// - Parameters:
    ///   - router: the public listener's, which is given the routes in force.
    ///   - compose: throws where the configuration names cells or commands that there are not.
    ///   - check: called before a composition is put in force, and throws where it does not go together with what is stored.
    init(
        _ configuration: ServiceConfiguration, router: Router, control: LogControl, logger: Logger,
        compose: @escaping @Sendable (ServiceConfiguration) throws -> Application,
        check: @escaping @Sendable (Application) async throws -> Void
    ) throws {
        let campaigns = configuration.feed.campaigns.isEmpty ? nil : FileStamp(path: configuration.feed.campaigns)
        let composition = try compose(configuration)
        (self.compose, self.check, self.router, self.control, self.logger) = (compose, check, router, control, logger)
        stamps = Self.stamps(configuration)
        state = Mutex(State(configuration: configuration, composition: composition, campaigns: campaigns))
        router.serve(composition.table)
    }

    var current: Application { state.withLock { $0.composition } }

    /// Throws `ConfigurationError` with all that does not go together with what is stored, and `StoreError`.
    func checkCurrent() async throws { try await check(current) }

    var configuration: ServiceConfiguration { state.withLock { $0.configuration } }

    /// Puts a new configuration in force, as far as it can be: all of that at once, for the requests that begin from then on.
    ///
    /// - Throws: where the configuration cannot be composed, or does not go together with what is stored; the old one then stays in force.
    func change(to wanted: ServiceConfiguration) async throws {
        let old = configuration
        let changed = zip(old.settings, wanted.settings).filter { $0.0.value != $0.1.value }.map(\.1.key)
        var applied = changed.filter(Self.canChange)
        // What the file of campaigns says holds from then on, whatever it is called.
        let campaigns = wanted.feed.campaigns.isEmpty ? nil : FileStamp(path: wanted.feed.campaigns)
        if campaigns != state.withLock({ $0.campaigns }), !applied.contains("ads.campaigns") { applied.append("ads.campaigns") }
        let files = Self.stamps(old)
        let kept = changed.filter { !Self.canChange($0) } + stamps.keys.sorted().filter { !changed.contains($0) && files[$0] != stamps[$0] }
        let next = old.taking(wanted)
        if !applied.isEmpty {
            try await replace { old, _ in (old.taking(wanted), campaigns) }
            control.apply(next.log)
        }
        logger.notice("configuration read again", metadata: ["changed": "\(applied.joined(separator: " "))"])
        if !kept.isEmpty {
            logger.warning("settings that only a restart puts in force", metadata: ["settings": "\(kept.joined(separator: " "))"])
        }
    }

    /// Makes everything anew, of the same configuration: what it does not tell, such as the signing keys, has changed.
    ///
    /// - Throws: as ``change(to:)``.
    func renew() async throws {
        try await replace { ($0, $1) }
    }

    /// Composes what a change of the configuration in force leads to, and puts it in force; anew where another one came first.
    private func replace(_ change: (ServiceConfiguration, FileStamp?) -> (ServiceConfiguration, FileStamp?)) async throws {
        while true {
            let old = state.withLock { $0 }
            let (configuration, campaigns) = change(old.configuration, old.campaigns)
            let composition = try compose(configuration)
            try await check(composition)
            let isFirst = state.withLock { state in
                guard state.number == old.number else { return false }
                state = State(configuration: configuration, composition: composition, campaigns: campaigns, number: old.number + 1)
                router.serve(composition.table)
                return true
            }
            if isFirst { return }
        }
    }

    private static func stamps(_ configuration: ServiceConfiguration) -> [String: FileStamp] {
        ["feed.kinds": configuration.feed.kinds, "sources.file": configuration.sources.file]
            .filter { !$0.value.isEmpty }.compactMapValues { FileStamp(path: $0) }
    }

    private static let changeable = ["actions.", "ads.", "cells.", "events.", "feed.", "log.", "ledger.retention", "server.public-url"]

    /// Whether a setting can be put in force while the service runs.
    static func canChange(_ key: String) -> Bool {
        // Addresses that are remembered in one form must not turn up in another.
        // Nor can kinds come and go: what was imported by them is there.
        !["ads.reservation", "events.address", "feed.kinds"].contains(key)
            && changeable.contains { key == $0 || $0.hasSuffix(".") && key.hasPrefix($0) }
    }
}

extension ServiceConfiguration {
    /// This configuration with what can change while the service runs taken from another one.
    fileprivate func taking(_ wanted: ServiceConfiguration) -> ServiceConfiguration {
        var next = self
        next.actions = wanted.actions
        next.events = wanted.events
        next.events.address = events.address
        next.feed = wanted.feed
        next.feed.kinds = feed.kinds
        next.feed.reservation = feed.reservation
        next.log = wanted.log
        next.ledger.retention = wanted.ledger.retention
        next.server.publicURL = wanted.server.publicURL
        next.origins = origins.filter { !ReloadableApplication.canChange($0.key) }
        next.origins.merge(wanted.origins.filter { ReloadableApplication.canChange($0.key) }) { $1 }
        return next
    }
}
