internal import IntertwineFeed
internal import IntertwineHTTPServer
internal import Logging
internal import Synchronization

final class ReloadableApplication: Sendable {
    private struct State {
        var configuration: ServiceConfiguration
        var composition: Application
        var files: [String: FileStamp]
        var number = 0
    }

    private let compose: @Sendable (ServiceConfiguration) throws -> Application
    private let check: @Sendable (Application) async throws -> @Sendable () -> Void
    private let router: Router
    private let control: LogControl
    private let logger: Logger
    private let state: Mutex<State>
    private let stamps: [String: FileStamp]

    /// The result activates it and must not block.
    init(
        _ configuration: ServiceConfiguration, router: Router, control: LogControl, logger: Logger,
        compose: @escaping @Sendable (ServiceConfiguration) throws -> Application,
        check: @escaping @Sendable (Application) async throws -> @Sendable () -> Void
    ) throws {
        let files = Self.reloadedFiles(configuration)
        let composition = try compose(configuration)
        (self.compose, self.check, self.router, self.control, self.logger) = (compose, check, router, control, logger)
        stamps = Self.stamps(configuration)
        state = Mutex(State(configuration: configuration, composition: composition, files: files))
        router.update(RouteTable(composition.routes))
    }

    var current: Application { state.withLock { $0.composition } }

    func checkCurrent() async throws { try await check(current)() }

    var configuration: ServiceConfiguration { state.withLock { $0.configuration } }

    func change(to updated: ServiceConfiguration) async throws {
        let old = configuration
        let changed = zip(old.settings, updated.settings).filter { $0.0.elements != $0.1.elements }.map(\.1)
        var applied = changed.filter(\.isReloaded).map(\.key)
        // The contents of these files are applied even if their names did not change.
        let (reloaded, read) = (Self.reloadedFiles(updated), state.withLock { $0.files })
        applied += Set(reloaded.keys).union(read.keys).sorted().filter { reloaded[$0] != read[$0] && !applied.contains($0) }
        let files = Self.stamps(old)
        let unchangeable =
            changed.filter { !$0.isReloaded }.map(\.key)
            + stamps.keys.sorted().filter { file in !changed.contains { $0.key == file } && files[file] != stamps[file] }
        let next = old.applying(updated)
        if !applied.isEmpty {
            try await replace { old, _ in (old.applying(updated), reloaded) }
            control.apply(next.log)
        }
        logger.notice("configuration reloaded", metadata: ["changed": "\(applied.joined(separator: " "))"])
        if !unchangeable.isEmpty {
            logger.warning("settings that require a restart", metadata: ["settings": "\(unchangeable.joined(separator: " "))"])
        }
    }

    /// Recreates the composition with the current configuration, because data outside of it has changed, such as the signing keys.
    func renew() async throws {
        try await replace { ($0, $1) }
    }

    private func replace(_ change: (ServiceConfiguration, [String: FileStamp]) -> (ServiceConfiguration, [String: FileStamp])) async throws
    {
        while true {
            let old = state.withLock { $0 }
            let (configuration, files) = change(old.configuration, old.files)
            let composition = try compose(configuration)
            let activate = try await check(composition)
            let isFirst = state.withLock { state in
                guard state.number == old.number else { return false }
                state = State(configuration: configuration, composition: composition, files: files, number: old.number + 1)
                router.update(RouteTable(composition.routes))
                activate()
                return true
            }
            if isFirst {
                return logChanges(of: old.composition.campaignsFile?.campaigns ?? [], to: composition.campaignsFile?.campaigns ?? [])
            }
        }
    }

    private func logChanges(of old: [Campaign], to new: [Campaign]) {
        let (before, after) = (Set(old.map(\.id)), Set(new.map(\.id)))
        var removed = old.filter { !after.contains($0.id) }
        var added = new.filter { !before.contains($0.id) }
        var renamed: [String] = []
        for campaign in removed {
            func isSame(_ other: Campaign) -> Bool {
                var campaign = campaign
                campaign.id = other.id
                return campaign == other
            }
            guard let index = added.firstIndex(where: isSame) else { continue }
            renamed.append("\(campaign.id) to \(added.remove(at: index).id)")
            removed.removeAll { $0.id == campaign.id }
        }
        let changed = new.filter { campaign in old.contains { $0.id == campaign.id && $0 != campaign } }
        let changes = [
            ("added", added.map(\.id)), ("removed", removed.map(\.id)), ("renamed", renamed), ("changed", changed.map(\.id)),
        ].filter { !$0.1.isEmpty }
        guard !changes.isEmpty else { return }
        // A renamed campaign begins to count again.
        logger.notice(
            "campaigns changed", metadata: Logger.Metadata(uniqueKeysWithValues: changes.map { ($0, "\($1.joined(separator: " "))") }))
    }

    private static func stamps(_ configuration: ServiceConfiguration) -> [String: FileStamp] {
        stamps(["kinds.file": configuration.kinds.file, "sources.file": configuration.sources.file])
    }

    private static func reloadedFiles(_ configuration: ServiceConfiguration) -> [String: FileStamp] {
        stamps(["campaigns.file": configuration.campaigns.file, "events.robots-file": configuration.events.robotsFile])
    }

    private static func stamps(_ files: [String: String]) -> [String: FileStamp] {
        files.filter { !$0.value.isEmpty }.compactMapValues { FileStamp(path: $0) }
    }
}
