/// Performs what people do with cells, and has the ledger keep it.
///
/// It finds the item, has its factory make the view model, and runs the command in the slot; what the commands leave behind is committed
/// as one unit before anything is answered. It knows neither kinds of item nor commands.
///
/// A class, as each click passes it from one closure to the next.
package final class ActionPerformer: Sendable {
    let store: any FeedStore
    let ledger: any Ledger
    let factories: CellFactories
    let registry: CommandRegistry
    let links: Links
    let tokens: CellTokens
    /// How long a selection can be undone, in milliseconds.
    let undoWindow: Int64
    let gate = KeyedMutex()
    let destinations = LinkCache()
    /// Told of the events that are on disk, with what the ledger made of them.
    let eventsDidCommit: @Sendable ([LedgerEvent], [Verdict]) -> Void
    /// Nil where there are none.
    let campaigns: Campaigns?

    /// - Parameters:
    ///   - undoWindow: how long a selection can be undone, in milliseconds; ten minutes by default.
    ///   - settle: told of the events that are on disk, with what the ledger made of them.
    ///   - campaigns: tell who pays for them, and whether they run.
    package init(
        store: any FeedStore, ledger: any Ledger, factories: CellFactories, registry: CommandRegistry = .standard, links: Links = Links(),
        tokens: CellTokens, undoWindow: Int64 = 600_000,
        eventsDidCommit: @escaping @Sendable ([LedgerEvent], [Verdict]) -> Void = { _, _ in }, campaigns: Campaigns? = nil
    ) {
        self.store = store
        self.ledger = ledger
        self.factories = factories
        self.registry = registry
        self.links = links
        self.tokens = tokens
        self.undoWindow = undoWindow
        self.eventsDidCommit = eventsDidCommit
        self.campaigns = campaigns
    }

    /// The same events, those of campaigns with the campaign's advertiser in place of the ad's.
    func attributed(_ events: [LedgerEvent]) -> [LedgerEvent] {
        guard let campaign = events.first?.showing?.campaign, let name = campaigns?.campaign(campaign)?.advertiser else { return events }
        return events.map { event in
            var event = event
            event.creative?.advertiser = name
            return event
        }
    }

    /// What a performance came to.
    package enum Outcome: Sendable {
        /// On disk.
        case performed(CommandResult)
        /// The idempotency key was used before, for the same request: the answer that it got. Nothing was run, or what was is dropped.
        case replayed(response: [UInt8])
    }

    /// Performs a slot of a cell.
    ///
    /// - Parameters:
    ///   - body: what the request brought: a JSON object, where the slot takes any input; not looked at where it takes none.
    ///   - token: the click token of the page that shows the cell. Without one, clicks and impressions of an advertisement, and all that its
    ///     selection records, are ``Decision/noToken``.
    ///   - idempotency: the client's key. Of two requests with one key at the same moment, the second waits for the first and gets its
    ///     answer; where they met different replicas, one is committed, and both get its answer.
    ///   - answer: makes the bytes that are kept under the key, and given to whoever repeats the request. It has the verdicts by then, and
    ///     makes the same bytes each time it is called. It is not called where there is no key.
    /// - Throws: ``ActionError``, ``StoreError``.
    package func perform(
        _ slot: CommandKey, of cell: String, for client: ClientFingerprint, now: Int64, body: [UInt8] = [], token: String? = nil,
        idempotency: IdempotencyKey? = nil, response: @escaping @Sendable (CommandResult) -> [UInt8]
    ) async throws -> Outcome {
        try await once(idempotency) {
            try await performOnce(
                slot, of: cell, for: client, now: now, body: body, token: token, idempotency: idempotency, response: response)
        }
    }

    /// Performs something unless its key has been used; those with one key take turns.
    private func once(_ idempotency: IdempotencyKey?, _ perform: @Sendable () async throws -> Outcome) async throws -> Outcome {
        guard let idempotency else { return try await perform() }
        return try await gate.run(Self.mutexName(of: idempotency)) {
            if let receipt = try await ledger.replay(of: idempotency), let answer = try Self.storedResponse(of: receipt) {
                return .replayed(response: answer)
            }
            return try await perform()
        }
    }

    /// Requests with the same key take turns by it.
    static func mutexName(of key: IdempotencyKey) -> String { "key\u{0}\(key.scope)\u{0}\(key.key)" }

    private func performOnce(
        _ slot: CommandKey, of cell: String, for client: ClientFingerprint, now: Int64, body: [UInt8], token: String?,
        idempotency: IdempotencyKey?, response: @escaping @Sendable (CommandResult) -> [UInt8]
    ) async throws -> Outcome {
        let viewModel = try await viewModel(of: cell, slot: 0, client: client, now: now)
        let command = try command(in: slot, of: viewModel, for: client)
        var client = client
        if let token { client = try await self.client(client, withClickToken: token, of: viewModel, now: now) }
        let input = try FieldDeclaration.read(command.input, in: body)
        var context = CommandContext(
            cell: viewModel.id, subject: viewModel.subject, occurrence: slot.occurrence, client: client, now: now, input: input.values)
        context.recordedInput = input.recorded
        // What failed is noted with its step.
        try? await context.perform(command)
        context.recordSelection(by: slot)
        let events = token == nil ? Self.withoutToken(context.events, of: slot) : attributed(context.events)
        return try await commit(context, events, idempotency: idempotency, response: response)
    }

    /// Of an advertisement, what counts only where a page showed it.
    private static func withoutToken(_ events: [LedgerEvent], of slot: CommandKey) -> [LedgerEvent] {
        events.map { event in
            guard event.creative != nil, slot == .selection || event.kind == .click || event.kind == .impression else { return event }
            return event.withoutToken
        }
    }

    /// Has the ledger keep what commands left behind.
    private func commit(
        _ context: CommandContext, _ events: [LedgerEvent], idempotency: IdempotencyKey?,
        response: @escaping @Sendable (CommandResult) -> [UInt8]
    ) async throws -> Outcome {
        let performance = CommandResult(of: context, links: links, undoWindow: undoWindow)
        let receipt = try await commitSettled(
            LedgerEntry(
                events: events, changes: context.changes, selection: performance.record,
                idempotency: idempotency.map { (key: $0, answer: { response(performance.applying($0)) }) }))
        if let response = try Self.storedResponse(of: receipt) { return .replayed(response: response) }
        return .performed(performance.applying(receipt.verdicts))
    }

    /// Commits events, and tells of those that are on disk before the ledger goes on.
    func commitSettled(_ entry: LedgerEntry) async throws -> LedgerReceipt {
        try await withCheckedThrowingContinuation { continuation in
            ledger.commit(entry) { [eventsDidCommit] receipt in
                if case .success(let receipt) = receipt { eventsDidCommit(entry.events, receipt.verdicts) }
                continuation.resume(with: receipt)
            }
        }
    }

    /// What performing a slot would run. Refuses what performing would refuse; runs and writes nothing.
    ///
    /// - Throws: as ``perform(_:of:for:now:body:token:idempotency:answer:)`` does.
    package func simulate(
        _ slot: CommandKey, of cell: String, for client: ClientFingerprint, now: Int64, body: [UInt8] = []
    ) async throws -> CommandResult {
        let viewModel = try await viewModel(of: cell, slot: 0, client: client, now: now)
        let command = try command(in: slot, of: viewModel, for: client)
        _ = try FieldDeclaration.read(command.input, in: body)
        return CommandResult(simulating: command.leaves, of: viewModel.id)
    }

    /// The view model of one cell, as a page would have it.
    ///
    /// - Throws: ``ActionError/unknownCell(_:)``, ``ActionError/brokenCell(_:)``, ``StoreError``.
    func viewModel(of cell: String, slot: Int, client: ClientFingerprint, now: Int64) async throws -> CellViewModel {
        guard let name = factories.item(ofCell: cell) else { throw ActionError.unknownCell(cell) }
        let found = try await store.read { try $0.item(kind: name.kind, id: name.id) }
        guard let item = found else { throw ActionError.unknownCell(cell) }
        // What is in a campaign that is stopped is gone as if it were taken down itself.
        if try await campaigns?.book(of: store)?.isExclusive(CreativeID(kind: name.kind, id: name.id)) ?? false {
            throw ActionError.unknownCell(cell)
        }
        let context = CellContext(
            links: links, tokens: tokens, now: now, hasViewer: client.viewer != nil, slot: slot, language: client.language)
        do {
            return try factories.makeActingViewModel(of: cell, for: item, in: context)
        } catch CellFactoryError.noFactory {
            throw ActionError.unknownCell(cell)
        } catch {
            throw ActionError.brokenCell(cell)
        }
    }

    /// The command in a slot, which is refused where it cannot be performed for the client.
    private func command(
        in slot: CommandKey, of viewModel: CellViewModel, for client: ClientFingerprint
    ) throws(ActionError) -> any Command {
        guard let command = viewModel.commands[slot], !viewModel.commands.reported.contains(slot) else {
            throw .nothingToDo(slot, cell: viewModel.id)
        }
        if client.viewer == nil, command.needs.contains(.viewer) {
            throw .viewerRequired(command: command.leaves.first { $0.needs.contains(.viewer) }?.name ?? command.name)
        }
        return command
    }

    /// The answer that was kept under an idempotency key; nil where the receipt is of a fresh commit.
    static func storedResponse(of receipt: LedgerReceipt) throws(ActionError) -> [UInt8]? {
        switch receipt {
        case .committed: nil
        case .replayed(let answer): answer
        case .keyReused: throw .keyReused
        case .alreadyUndone: throw .alreadyUndone
        case .expired: throw .undoExpired
        }
    }
}

extension ActionPerformer {
    /// Performs a command on a cell because it is on one of the viewer's lists, whatever its slots hold, and whether or not its item is there.
    ///
    /// - Parameters:
    ///   - name: the command's registered name.
    ///   - idempotency: as of ``perform(_:of:for:now:body:token:idempotency:answer:)``.
    /// - Throws: ``ActionError``: `unknownCell` where the cell is not on the list, `viewerRequired`; ``StoreError``.
    package func perform(
        _ name: String, of cell: String, on list: ViewerList, for client: ClientFingerprint, now: Int64, idempotency: IdempotencyKey? = nil,
        response: @escaping @Sendable (CommandResult) -> [UInt8]
    ) async throws -> Outcome {
        try await once(idempotency) {
            let command = try await command(name, for: cell, on: list, of: client)
            var context = CommandContext(cell: cell, subject: nil, occurrence: .undo, client: client, now: now)
            // What failed is noted with its step.
            try? await context.perform(command)
            return try await commit(context, context.events, idempotency: idempotency, response: response)
        }
    }

    /// What that would run. Refuses what performing would refuse; runs and writes nothing.
    ///
    /// - Throws: as ``perform(_:of:on:for:now:idempotency:answer:)`` does.
    package func simulate(_ name: String, of cell: String, on list: ViewerList, for client: ClientFingerprint) async throws -> CommandResult
    {
        CommandResult(simulating: try await command(name, for: cell, on: list, of: client).leaves, of: cell)
    }

    private func command(
        _ name: String, for cell: String, on list: ViewerList, of client: ClientFingerprint
    ) async throws -> any Command {
        guard let viewer = client.viewer else { throw ActionError.viewerRequired(command: name) }
        guard let command = registry[name], try await ledger.contains(cell, on: list, of: viewer) else {
            throw ActionError.unknownCell(cell)
        }
        return command
    }
}

/// Why an action was refused before anything ran.
package enum ActionError: Error, Sendable, Hashable {
    /// No such cell: 404 over HTTP.
    case unknownCell(String)
    /// The item cannot be shown, so nothing can be done with it either: 404 over HTTP.
    case brokenCell(String)
    /// The slot is empty, which is legal.
    case nothingToDo(CommandKey, cell: String)
    /// The command acts for a viewer, and the request has none: 400 over HTTP.
    case viewerRequired(command: String)
    /// What came with the request is not what the slot takes; names the value: 400 over HTTP.
    case invalidInput(ItemError)
    /// No such selection, or another viewer's: 404 over HTTP.
    case unknownSelection(String)
    /// The command cannot be undone: 409 over HTTP.
    case notUndoable(command: String)
    /// It was undone before: 409 over HTTP.
    case alreadyUndone
    /// The time for undoing is over: 410 over HTTP.
    case undoExpired
    /// A command failed while being undone; nothing of the undo is kept, and it can be tried again.
    case undoFailed(command: String, reason: String)
    /// The idempotency key was used before, for another request: 422 over HTTP.
    case keyReused
    /// A clickthrough token that is damaged or not ours: 404 over HTTP, and no redirect.
    case forgedToken
    /// The advertisement that a clickthrough token names is deleted, or leads nowhere any more: 410 over HTTP.
    case gone(String)
}

/// Lets requests that must not run at once through one after another: those with the same idempotency key, so that the second finds the
/// answer of the first, and those that undo the same selection.
///
/// It holds within one process. Between replicas the ledger decides: one of two is committed, and both get its answer.
actor KeyedMutex {
    /// Those who wait for each name that is under way.
    private var waiting: [ByteString: [CheckedContinuation<Void, Never>]] = [:]

    /// Runs `body` alone among those with the same name.
    func run<Value: Sendable>(_ name: String, _ body: @Sendable () async throws -> Value) async rethrows -> Value {
        let name = ByteString(name)
        await lock(name)
        defer { unlock(name) }
        return try await body()
    }

    private func lock(_ name: ByteString) async {
        guard waiting[name] != nil else {
            waiting[name] = []
            return
        }
        await withCheckedContinuation { waiting[name, default: []].append($0) }
    }

    private func unlock(_ name: ByteString) {
        guard let next = waiting[name]?.first else {
            waiting[name] = nil
            return
        }
        waiting[name]?.removeFirst()
        next.resume()
    }
}
