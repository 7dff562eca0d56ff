public import IntertwineFeed
public import IntertwineFetch
internal import IntertwineStorage

/// One synchronisation: reads all pages of a source into a snapshot, makes sure that they belong together, and applies it in one transaction.
/// Whatever goes wrong before that leaves the store as it was.
public struct SourceRun: Sendable {
    /// How often a list that changes while it is read is begun anew.
    static let attempts = 3

    let source: RemoteSource
    let transfers: Transfers
    let database: String
    let report: @Sendable (BadSourceItem) -> Void
    let told: @Sendable (SourceProgress) -> Void
    let version: @Sendable () -> StoreVersion?

    /// - Parameters:
    ///   - transfers: whose address policy holds for the source and for wherever it leads.
    ///   - database: the store's file.
    ///   - report: told of each item that is left out under `BadItemPolicy.skip`. From any thread.
    ///   - told: told how far it is, often. From any thread.
    ///   - version: the store's; where it is what it was, nobody can have touched what the source brought. Nil has it looked through each time.
    public init(
        _ source: RemoteSource, transfers: Transfers, database: String, report: @escaping @Sendable (BadSourceItem) -> Void = { _ in },
        told: @escaping @Sendable (SourceProgress) -> Void = { _ in }, version: @escaping @Sendable () -> StoreVersion? = { nil }
    ) {
        self.source = source
        self.transfers = transfers
        self.database = database
        self.report = report
        self.told = told
        self.version = version
    }

    /// - Parameter memory: of the last synchronisation, brought up to date; an empty one makes everything be read and compared.
    /// - Throws: ``SourceFailure``, or `CancellationError` where the task is cancelled.
    public func run(_ memory: inout SourceMemory) async throws -> SourceOutcome {
        do {
            let outcome = try await synchronise(&memory)
            SourceRecord(of: outcome).save(source.name, beside: database)
            return outcome
        } catch let error as SnapshotRefusal {
            throw SourceFailure.refused(error)
        } catch let error as StoreError {
            throw SourceFailure.store(error)
        }
    }

    private func synchronise(_ memory: inout SourceMemory) async throws -> SourceOutcome {
        var mayAsk = !memory.pages.isEmpty && memory.pages.allSatisfy(\.hasValidator)
        for _ in 0..<Self.attempts {
            let stage = SourceStage(source, database: database, report: report)
            do {
                guard let read = try await readAll(stage, ifChangedSince: mayAsk ? memory.pages.first : nil) else {
                    // The first page is as it was; the others have to say so too.
                    if try await areUnchanged(memory.pages.dropFirst(), from: 2), try await isInStep(stage, &memory) {
                        await stage.discard()
                        return unchanged(memory)
                    }
                    await stage.discard()
                    mayAsk = false
                    continue
                }
                if source.isVerified, read.pages.count > 1 {
                    // The last page was read just now: those before it must still be what they were.
                    guard try await areUnchanged(read.pages.dropLast(), from: 1) else {
                        await stage.discard()
                        mayAsk = false
                        continue
                    }
                }
                let isKnown = !memory.pages.isEmpty && memory.pages.map(\.digest) == read.pages.map(\.digest)
                var outcome = SourceOutcome(
                    pages: read.pages.count, items: read.progress.items, skipped: read.progress.skipped, bytes: read.progress.bytes)
                if isKnown, try await isInStep(stage, &memory) {
                    await stage.discard()
                } else {
                    outcome.changes = try await stage.apply(told)
                }
                memory.pages = read.pages
                memory.items = read.progress.items
                memory.skipped = read.progress.skipped
                return outcome
            } catch {
                await stage.discard()
                try Task.checkCancellation()
                throw error
            }
        }
        throw SourceFailure.changing(attempts: Self.attempts)
    }

    /// Whether the store has what the source brought last, as far as nobody else's writing says anything: a list that is what it was is then
    /// nothing to compare.
    private func isInStep(_ stage: SourceStage, _ memory: inout SourceMemory) async throws -> Bool {
        // Read first: what is written meanwhile is looked at the next time.
        let version = version()
        if let version, version == memory.version { return true }
        guard try await stage.isInStep() else { return false }
        memory.version = version
        return true
    }

    private func unchanged(_ memory: SourceMemory) -> SourceOutcome {
        SourceOutcome(pages: memory.pages.count, items: memory.items, skipped: memory.skipped)
    }
}
