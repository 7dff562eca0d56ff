/// Performs what people do with cells, and has the ledger keep it.
///
/// It finds the item, has its factory make the view model, and runs the command in the slot; what the commands leave behind is committed
/// as one unit before anything is answered. It knows neither kinds of item nor commands.
public struct ActionPerformer: Sendable {
    let store: any FeedStore
    let ledger: any Ledger
    let factories: CellFactories
    let registry: CommandRegistry
    let links: Links
    let tokens: CellTokens
    /// How long a selection can be undone, in milliseconds.
    let undoWindow: Int64
    let gate = ActionGate()
    let destinations = ClickDestinations()

    /// - Parameter undoWindow: how long a selection can be undone, in milliseconds; ten minutes by default.
    public init(
        store: any FeedStore, ledger: any Ledger, factories: CellFactories, registry: CommandRegistry = .standard, links: Links = Links(),
        tokens: CellTokens, undoWindow: Int64 = 600_000
    ) {
        self.store = store
        self.ledger = ledger
        self.factories = factories
        self.registry = registry
        self.links = links
        self.tokens = tokens
        self.undoWindow = undoWindow
    }

    /// What a performance came to.
    public enum Outcome: Sendable {
        /// On disk. The bytes are what `answer` made of it.
        case performed(Performance, answer: [UInt8])
        /// The idempotency key was used before, for the same request: the answer that it got. Nothing was run, or what was is dropped.
        case replayed(answer: [UInt8])
        /// The idempotency key was used before, for another request: 422 over HTTP.
        case keyReused
    }

    /// Performs a slot of a cell.
    ///
    /// - Parameters:
    ///   - idempotency: the client's key. Of two requests with one key at the same moment, the second waits for the first and gets its
    ///     answer; where they met different replicas, one is committed, and both get its answer.
    ///   - answer: makes the bytes that are kept under the key, and given to whoever repeats the request. It has the verdicts by then, and
    ///     makes the same bytes each time it is called.
    /// - Throws: ``ActionError``, ``StoreError``.
    public func perform(
        _ slot: CommandKey, of cell: String, for client: ClientTrace, now: Int64, idempotency: IdempotencyKey? = nil,
        answer: @escaping @Sendable (Performance) -> [UInt8]
    ) async throws -> Outcome {
        guard let idempotency else {
            return try await performOnce(slot, of: cell, for: client, now: now, idempotency: nil, answer: answer)
        }
        return try await gate.run(Self.turn(of: idempotency)) {
            if let receipt = try await ledger.replay(of: idempotency), let outcome = Outcome(replaying: receipt) { return outcome }
            return try await performOnce(slot, of: cell, for: client, now: now, idempotency: idempotency, answer: answer)
        }
    }

    /// Requests with the same key take turns by it.
    static func turn(of key: IdempotencyKey) -> String { "key\u{0}\(key.scope)\u{0}\(key.key)" }

    private func performOnce(
        _ slot: CommandKey, of cell: String, for client: ClientTrace, now: Int64, idempotency: IdempotencyKey?,
        answer: @escaping @Sendable (Performance) -> [UInt8]
    ) async throws -> Outcome {
        let viewModel = try await viewModel(of: cell, slot: 0, client: client, now: now)
        let command = try command(in: slot, of: viewModel, for: client)
        let context = await run(command, slot.occurrence, on: viewModel, for: client, now: now)
        let performance = Performance(context: context, links: links, undoWindow: undoWindow)
        let receipt = try await ledger.commit(
            LedgerEntry(
                events: context.events, changes: context.changes, selection: performance.record,
                idempotency: idempotency.map { (key: $0, answer: { answer(performance.judged($0)) }) }))
        if let outcome = Outcome(replaying: receipt) { return outcome }
        let judged = performance.judged(receipt.verdicts)
        return .performed(judged, answer: answer(judged))
    }

    /// What performing a slot would run. Refuses what performing would refuse; runs and writes nothing.
    ///
    /// - Throws: as ``perform(_:of:for:now:idempotency:answer:)`` does.
    public func simulate(_ slot: CommandKey, of cell: String, for client: ClientTrace, now: Int64) async throws -> Performance {
        let viewModel = try await viewModel(of: cell, slot: 0, client: client, now: now)
        let command = try command(in: slot, of: viewModel, for: client)
        return Performance(simulating: command, of: viewModel)
    }

    /// The view model of one cell, as a page would have it.
    ///
    /// - Throws: ``ActionError/unknownCell(_:)``, ``ActionError/brokenCell(_:)``, ``StoreError``.
    func viewModel(of cell: String, slot: Int, client: ClientTrace, now: Int64) async throws -> CellViewModel {
        guard let name = factories.item(ofCell: cell) else { throw ActionError.unknownCell(cell) }
        let found = try await store.read { try $0.item(kind: name.kind, id: name.id) }
        guard let item = found else { throw ActionError.unknownCell(cell) }
        let context = CellContext(links: links, tokens: tokens, now: now, hasViewer: client.viewer != nil, slot: slot)
        do {
            return try factories.makeActingViewModel(for: item, in: context)
        } catch CellFactoryError.noFactory {
            throw ActionError.unknownCell(cell)
        } catch {
            throw ActionError.brokenCell(cell)
        }
    }

    private func command(in slot: CommandKey, of viewModel: CellViewModel, for client: ClientTrace) throws(ActionError) -> any Command {
        guard let command = viewModel.commands[slot] else { throw .nothingToDo(slot, cell: viewModel.id) }
        if client.viewer == nil, command.needs.contains(.viewer) {
            let names = Performance.leaves(of: command).filter { $0.needs.contains(.viewer) }.map(\.name)
            throw .viewerRequired(command: names.first ?? command.name)
        }
        return command
    }

    /// Runs a command to its end, or to where its policy gives up. What became of each step is in the context.
    func run(
        _ command: any Command, _ occurrence: LedgerEvent.Kind, on viewModel: CellViewModel, for client: ClientTrace, now: Int64
    ) async -> CommandContext {
        if let context = runBriefly(command, occurrence, on: viewModel, for: client, now: now) { return context }
        var context = makeContext(occurrence, on: viewModel, for: client, now: now)
        do {
            try await context.run(MacroCommand.Step(command))
        } catch {
            // Noted with its step, which the performance reports.
        }
        return context
    }

    /// The same without suspending; nil where the command is not brief.
    func runBriefly(
        _ command: any Command, _ occurrence: LedgerEvent.Kind, on viewModel: CellViewModel, for client: ClientTrace, now: Int64
    ) -> CommandContext? {
        guard let macro = command as? MacroCommand, macro.isBrief else { return nil }
        var context = makeContext(occurrence, on: viewModel, for: client, now: now)
        // What failed is noted with its step.
        try? macro.performBriefly(in: &context)
        return context
    }

    func makeContext(
        _ occurrence: LedgerEvent.Kind, on viewModel: CellViewModel, for client: ClientTrace, now: Int64
    ) -> CommandContext {
        CommandContext(cell: viewModel.id, subject: viewModel.subject, occurrence: occurrence, client: client, now: now)
    }
}

extension ActionPerformer.Outcome {
    /// Nil where the receipt is of a fresh commit.
    init?(replaying receipt: LedgerReceipt) {
        switch receipt.outcome {
        case .replayed(let answer): self = .replayed(answer: answer)
        case .keyReused: self = .keyReused
        case .committed, .alreadyUndone, .expired: return nil
        }
    }
}
