internal import IntertwineEventLoop
internal import IntertwineFeed
package import IntertwineFetch
internal import IntertwinePrimitives
package import IntertwineStorage
package import Logging
internal import ServiceLifecycle

/// Keeps the store in step with the sources: asks each at its interval, and later and later where it fails. Nothing that a source does
/// touches what is served, but a complete snapshot. Of several processes with the same store one asks, unless somebody wishes.
package struct SourcePolling: ServiceLifecycle.Service {
    package let sources: [RemoteSource]
    package let board: SourceBoard
    private let store: any ItemStore
    private let location: any ItemLocation
    private let leadership: any Leadership
    private let policy: AddressPolicy
    /// Milliseconds since 1970-01-01 UTC.
    private let now: @Sendable () -> Int64
    private let logger: Logger
    /// Writes down what came and went.
    private var record: @Sendable (_ source: String, SourceOutcome) async throws -> Void = { _, _ in }

    /// - Parameter now: milliseconds since 1970-01-01 UTC.
    package init(
        _ sources: [RemoteSource], policy: AddressPolicy, into store: any ItemStore, at location: any ItemLocation,
        now: @escaping @Sendable () -> Int64, logger: Logger
    ) {
        self.sources = sources
        board = SourceBoard(sources.map(\.name), now: now())
        self.store = store
        self.location = location
        leadership = location.leadership()
        self.policy = policy
        self.now = now
        self.logger = logger
        for source in sources { recall(source.name) }
    }

    /// The same, with a word about each synchronisation that changed something.
    package func recorded(by record: @escaping @Sendable (_ source: String, SourceOutcome) async throws -> Void) -> SourcePolling {
        var polling = self
        polling.record = record
        return polling
    }

    /// What was known of a source before this service began, or that another process has found out since.
    private func recall(_ name: String) {
        guard let record = SourceRecord(of: name, beside: location.companions) else { return }
        board.update(name) { $0.recall(record) }
    }

    package func run() async throws {
        guard !sources.isEmpty else {
            try? await gracefulShutdown()
            return
        }
        let loop = try EventLoop(label: "sources")
        let transfers = Transfers(on: loop, policy: policy)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for source in sources { group.addTask { await watch(source, transfers) } }
            }
        }
        await transfers.shutDown()
        loop.stop()
    }

    /// How often those that do not lead look whether they do now.
    private static let watchfulness = Duration.seconds(2)
    /// How long to wait, at most, for another process that synchronises the same source.
    private static let courtesy = Duration.seconds(5)

    private func watch(_ source: RemoteSource, _ transfers: Transfers) async {
        let backoff = Backoff(interval: source.interval)
        var memory = SourceMemory()
        var isWished = false
        while !Task.isCancelled {
            var wait = min(source.interval, Self.watchfulness)
            if await isLeading(isWished) { wait = await synchronise(source, transfers, backoff, &memory) }
            isWished = await board.rest(source.name, for: wait)
            // Whoever wishes wants everything compared, not to hear that nothing is new.
            if isWished { memory = SourceMemory() }
            recall(source.name)
        }
    }

    private func isLeading(_ isWished: Bool) async -> Bool {
        if isWished { return true }
        return await leadership.isLeading()
    }

    private func note(_ outcome: SourceOutcome, of name: String) async {
        do {
            try await record(name, outcome)
        } catch {
            logger.error(
                "audit log cannot be written; a synchronisation has no line", metadata: ["source": "\(name)", "error": "\(error)"])
        }
    }

    /// - Returns: how long to wait before the next time.
    private func synchronise(_ source: RemoteSource, _ transfers: Transfers, _ backoff: Backoff, _ memory: inout SourceMemory) async
        -> Duration
    {
        let (name, board, logger) = (source.name, board, logger)
        board.update(name) { $0.begin(at: now()) }
        let run = SourceRun(source, transfers: transfers, into: location) { bad in
            logger.debug("item of a source left out", metadata: ["source": "\(name)", "item": "\(bad)"])
        } told: { progress in
            board.update(name) { $0.progress = progress }
        } version: { [store] in
            store.version
        }
        do {
            let outcome = try await run.run(&memory)
            // A little early or late, so that sources of one interval drift apart.
            let wait = source.interval * Double.random(in: 0.95...1.05)
            board.update(name) { $0.succeed(outcome, at: now(), next: now() + wait.milliseconds) }
            if let changes = outcome.changes, !changes.isEmpty {
                logger.notice(
                    "source synchronised",
                    metadata: [
                        "source": "\(name)", "added": "\(changes.added)", "changed": "\(changes.changed)",
                        "removed": "\(changes.removed)", "skipped": "\(outcome.skipped)", "withheld": "\(changes.withheld)",
                    ])
                await note(outcome, of: name)
            }
            return wait
        } catch is CancellationError {
            return .zero
        } catch {
            let failure = error as? SourceFailure
            if failure?.cause == .busy {
                let wait = min(source.interval, Self.courtesy) * Double.random(in: 0.5...1)
                board.update(name) { $0.postpone(to: now() + wait.milliseconds) }
                return wait
            }
            let count = (board[name]?.failures ?? 0) + 1
            let wait = backoff.delay(after: count, requested: failure?.retryAfter, chance: .random(in: 0...1))
            board.update(name) {
                $0.fail("\(error)", cause: failure?.cause.rawValue ?? SourceState.otherCause, next: now() + wait.milliseconds)
            }
            logger.warning(
                "source not synchronised; what is served stays",
                metadata: ["source": "\(name)", "error": "\(error)", "failures": "\(count)", "next": "\(wait.milliseconds) ms"])
            return wait
        }
    }
}

/// `sources.*`: JSON APIs that the store is kept in step with.
public struct SourceSettings: Sendable {
    /// The file that declares them; empty for none.
    public var file = ""
    /// Networks allowed although their addresses are private, in CIDR notation.
    public var allowedNetworks: [String] = []
    public var allowedPorts: [UInt16] = [80, 443]

    public init() {}

    /// What sources, their next pages and their redirects may lead to.
    package var policy: AddressPolicy {
        AddressPolicy(allowedNetworks: allowedNetworks.compactMap(Network.init), allowedPorts: Set(allowedPorts))
    }
}
