internal import IntertwineFeed
internal import IntertwineHTTPServer
package import IntertwineImages
internal import IntertwinePrimitives
internal import IntertwineStorage
internal import Logging
internal import ServiceLifecycle

struct SourcePoller: ServiceLifecycle.Service {
    let sources: [RemoteSource]
    let registry: SourceRegistry
    private let store: any ItemStore
    private let location: any ItemLocation
    private let leadership: any LeaderElection
    private let policy: AddressPolicy
    private let userAgent: String?
    /// The clock, in milliseconds since 1970-01-01 UTC.
    private let now: @Sendable () -> Int64
    private let logger: Logger
    private var record: @Sendable (_ source: String, SourceOutcome) async throws -> Void = { _, _ in }

    init(
        _ sources: [RemoteSource], policy: AddressPolicy, userAgent: String? = nil, into store: any ItemStore,
        at location: any ItemLocation, now: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        self.sources = sources
        registry = SourceRegistry(sources.map(\.name), now: now())
        self.store = store
        self.location = location
        leadership = location.leadership(in: .sources)
        self.policy = policy
        self.userAgent = userAgent
        self.now = now
        self.logger = logger
        for source in sources { recall(source.name) }
    }

    func recorded(by record: @escaping @Sendable (_ source: String, SourceOutcome) async throws -> Void) -> SourcePoller {
        var polling = self
        polling.record = record
        return polling
    }

    private func recall(_ name: String) {
        guard let record = SourceRecord(of: name, nextTo: location.companions) else { return }
        registry.update(name) { $0.recall(record) }
    }

    func run() async throws {
        guard !sources.isEmpty else {
            try? await gracefulShutdown()
            return
        }
        let loop = try EventLoop(label: "sources")
        let transfers = CurlClient(on: loop, policy: policy, userAgent: userAgent)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for source in sources { group.addTask { await watch(source, transfers) } }
            }
        }
        await transfers.shutDown()
        loop.stop()
    }

    private static let leaderCheckInterval = Duration.seconds(2)
    private static let lockTimeout = Duration.seconds(5)

    private func watch(_ source: RemoteSource, _ transfers: CurlClient) async {
        let backoff = Backoff(interval: source.interval)
        var memory = HTTPValidatorCache()
        var isWished = false
        while !Task.isCancelled {
            var wait = min(source.interval, Self.leaderCheckInterval)
            if await isLeading(isWished) { wait = await synchronise(source, transfers, backoff, &memory) }
            isWished = await registry.cooldown(source.name, for: wait)
            // A requested synchronisation compares all items, without conditional requests.
            if isWished { memory = HTTPValidatorCache() }
            recall(source.name)
        }
    }

    private func isLeading(_ isWished: Bool) async -> Bool {
        if isWished { return true }
        return await leadership.isLeading()
    }

    private func didFinish(_ outcome: SourceOutcome, of name: String) async {
        do {
            try await record(name, outcome)
        } catch {
            logger.error(
                "audit log cannot be written; a synchronization has no entry", metadata: ["source": "\(name)", "error": "\(error)"])
        }
    }

    private func synchronise(_ source: RemoteSource, _ transfers: CurlClient, _ backoff: Backoff, _ memory: inout HTTPValidatorCache) async
        -> Duration
    {
        let (name, board, logger) = (source.name, registry, logger)
        board.update(name) { $0.begin(at: now()) }
        let run = SyncJob(source, transfers: transfers, into: location) { bad in
            logger.debug(
                bad.isKept ? "value of a source left out" : "item of a source skipped", metadata: ["source": "\(name)", "item": "\(bad)"])
        } onProgress: { progress in
            board.update(name) { $0.progress = progress }
        } version: { [store] in
            store.version
        }
        do {
            let outcome = try await run.run(&memory)
            // Jitter separates sources with equal intervals.
            let wait = source.interval * Double.random(in: 0.95...1.05)
            board.update(name) { $0.succeed(outcome, at: now(), next: now() + wait.milliseconds) }
            if let changes = outcome.changes, !changes.isEmpty {
                logger.notice(
                    "source synchronised",
                    metadata: [
                        "source": "\(name)", "added": "\(changes.added)", "changed": "\(changes.changed)",
                        "removed": "\(changes.removed)", "skipped": "\(outcome.skipped)", "omitted": "\(outcome.omittedValues)",
                        "withheld": "\(changes.withheld)",
                    ])
                await didFinish(outcome, of: name)
            }
            return wait
        } catch is CancellationError {
            return .zero
        } catch {
            let failure = error as? SourceError
            if failure?.cause == .busy {
                let wait = min(source.interval, Self.lockTimeout) * Double.random(in: 0.5...1)
                board.update(name) { $0.postpone(to: now() + wait.milliseconds) }
                return wait
            }
            let count = (board[name]?.failures ?? 0) + 1
            let wait = backoff.delay(after: count, requested: failure?.retryAfter, chance: .random(in: 0...1))
            board.update(name) {
                $0.fail("\(error)", cause: failure?.cause.rawValue ?? SourceState.otherCause, next: now() + wait.milliseconds)
            }
            logger.warning(
                "source not synchronized; its items stay unchanged",
                metadata: ["source": "\(name)", "error": "\(error)", "failures": "\(count)", "next": "\(wait.milliseconds) ms"])
            return wait
        }
    }
}

/// The settings `sources.*`: JSON APIs that the store is kept in step with.
public struct SourceSettings: Sendable, SettingsSection {
    @Setting("sources.file", "File that declares them, such as Config/sources.yaml; empty for none.", allowed: "a file's path")
    public var file = ""
    @Setting(
        "sources.allowed-networks", "Private networks of sources, such as [10.1.0.0/16]. The rule applies to redirects and next pages too.",
        allowed: Network.allowed, where: Network.isValid)
    public var allowedNetworks: [String] = []
    @Setting("sources.allowed-ports", "Permitted ports.", allowed: "ports from 1 to 65535", where: { $0 > 0 })
    public var allowedPorts: [UInt16] = [80, 443]

    package var policy: AddressPolicy {
        AddressPolicy(allowedNetworks: allowedNetworks.compactMap(Network.init), allowedPorts: Set(allowedPorts))
    }
}
