/// Why a class: each click passes the executor through several closures.
package final class ActionPerformer: Sendable {
    let store: any FeedStore
    let ledger: any Ledger
    let factories: CellFactories
    let registry: CommandRegistry
    let links: Links
    let tokens: CellTokens
    /// The duration of the undo window, in milliseconds.
    let undoWindow: Int64
    let gate = KeyedMutex()
    let destinations = LinkCache()
    let eventsDidCommit: @Sendable ([LedgerEvent], [Verdict]) -> Void
    let campaigns: Campaigns?
    let sourceItems: SourceItems

    package init(
        store: any FeedStore, ledger: any Ledger, factories: CellFactories, registry: CommandRegistry = .standard, links: Links = Links(),
        tokens: CellTokens, undoWindow: Int64 = 600_000,
        eventsDidCommit: @escaping @Sendable ([LedgerEvent], [Verdict]) -> Void = { _, _ in }, campaigns: Campaigns? = nil,
        sourceItems: SourceItems = SourceItems()
    ) {
        self.sourceItems = sourceItems
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

    func attributed(_ events: [LedgerEvent]) -> [LedgerEvent] {
        guard let campaigns, let id = events.first?.impressionContext?.campaign, !campaigns.sources.contains(id) else { return events }
        guard let campaign = campaigns.campaign(id) else { return events.map { $0.rejected(as: .late) } }
        return events.map { event in
            var event = event
            event.creative?.advertiser = campaign.advertiser
            event.terms = campaign.terms(of: event)
            return event
        }
    }

    package enum Outcome: Sendable {
        case performed(CommandResult)
        case replayed(response: [UInt8])
    }

    /// It must return the same bytes for each call.
    package func perform(
        _ slot: CommandKey, of cell: String, for client: ClientFingerprint, now: Int64, body: [UInt8] = [], token: String? = nil,
        idempotency: IdempotencyKey? = nil, response: @escaping @Sendable (CommandResult) -> [UInt8]
    ) async throws -> Outcome {
        try await once(idempotency) {
            try await performOnce(
                slot, of: cell, for: client, now: now, body: body, token: token, idempotency: idempotency, response: response)
        }
    }

    /// Performs an action unless its idempotency key has been used.
    private func once(_ idempotency: IdempotencyKey?, _ perform: @Sendable () async throws -> Outcome) async throws -> Outcome {
        guard let idempotency else { return try await perform() }
        return try await gate.run(Self.mutexName(of: idempotency)) {
            if let receipt = try await ledger.replay(of: idempotency), let answer = try Self.storedResponse(of: receipt) {
                return .replayed(response: answer)
            }
            return try await perform()
        }
    }

    static func mutexName(of key: IdempotencyKey) -> String { "key\u{0}\(key.scope)\u{0}\(key.key)" }

    private func performOnce(
        _ slot: CommandKey, of cell: String, for client: ClientFingerprint, now: Int64, body: [UInt8], token: String?,
        idempotency: IdempotencyKey?, response: @escaping @Sendable (CommandResult) -> [UInt8]
    ) async throws -> Outcome {
        let viewModel = try await viewModel(of: cell, slot: 0, client: client, now: now)
        let command = try command(in: slot, of: viewModel, for: client)
        var client = client
        if let token { client = try await self.client(client, withClickToken: token, of: viewModel, now: now) }
        let input = try Self.input(of: command, in: body)
        var context = CommandContext(
            cell: viewModel.id, subject: viewModel.subject, occurrence: slot.occurrence, client: client, now: now, input: input.values)
        context.recordedInput = input.recorded
        try await Self.perform(slot, of: viewModel, in: &context)
        context.recordSelection(by: slot)
        let events =
            token == nil
            ? assigned(Self.withoutToken(context.events, of: slot), to: viewModel.subject.item, at: now)
            : attributed(context.events)
        return try await commit(context, events, slot: slot, idempotency: idempotency, response: response)
    }

    static func perform(_ slot: CommandKey, of viewModel: CellViewModel, in context: inout CommandContext) async throws(Refusal) {
        do { try await viewModel.commands[slot]?.perform(in: &context) } catch { if let refusal = error as? Refusal { throw refusal } }
    }

    private static func input(of command: any Command, in body: [UInt8]) throws(ActionError) -> ActionInput {
        let fields = command.input
        guard !fields.isEmpty else { return ActionInput() }
        let input = try FieldDeclaration.read(fields, in: body)
        do { try command.validate(input.values) } catch { throw .invalidInput([error]) }
        return input
    }

    private static func withoutToken(_ events: [LedgerEvent], of slot: CommandKey) -> [LedgerEvent] {
        let requiresToken = slot == .selection || events.contains { $0.kind == .click || $0.kind == .impression }
        return events.map { requiresToken && $0.creative != nil ? $0.rejected(as: .noToken) : $0 }
    }

    /// Returns events without the token of a page with the campaign that their ad belongs to, so that reports by ad and reports by campaign
    /// agree.
    func assigned(_ events: [LedgerEvent], to item: FeedItem, at now: Int64) -> [LedgerEvent] {
        guard let campaigns, factories.isCampaignAd(item) else { return events }
        let owner = campaigns.owner(of: CreativeID(item), at: now)
        return attributed(
            events.map { event in
                var event = owner == nil ? event.rejected(as: .late) : event
                event.impressionContext = owner.map { ImpressionContext(withoutPage: $0) }
                return event
            })
    }

    private func commit(
        _ context: CommandContext, _ events: [LedgerEvent], slot: CommandKey?, idempotency: IdempotencyKey?,
        response: @escaping @Sendable (CommandResult) -> [UInt8]
    ) async throws -> Outcome {
        let performance = CommandResult(of: context, slot: slot, links: links, undoWindow: undoWindow)
        let receipt = try await commitSettled(
            LedgerEntry(
                events: events, changes: context.changes, selection: performance.record,
                idempotency: idempotency.map { (key: $0, answer: { response(performance.applying($0)) }) }))
        if let response = try Self.storedResponse(of: receipt) { return .replayed(response: response) }
        return .performed(performance.applying(receipt.verdicts))
    }

    func commitSettled(_ entry: LedgerEntry) async throws -> LedgerReceipt {
        try await withCheckedThrowingContinuation { continuation in
            ledger.commit(entry) { [eventsDidCommit] receipt in
                if case .success(let receipt) = receipt { eventsDidCommit(entry.events, receipt.verdicts) }
                continuation.resume(with: receipt)
            }
        }
    }

    /// Returns the commands that performing a slot would run. It fails as performing would, and runs and writes nothing.
    package func simulate(
        _ slot: CommandKey, of cell: String, for client: ClientFingerprint, now: Int64, body: [UInt8] = []
    ) async throws -> CommandResult {
        let viewModel = try await viewModel(of: cell, slot: 0, client: client, now: now)
        let command = try command(in: slot, of: viewModel, for: client)
        _ = try Self.input(of: command, in: body)
        return CommandResult(simulating: command.leaves, of: viewModel.id, slot: slot)
    }

    func viewModel(of cell: String, slot: Int, client: ClientFingerprint, now: Int64) async throws -> CellViewModel {
        guard let name = factories.item(ofCell: cell) else { throw ActionError.unknownCell(cell) }
        var found = try await store.read { try $0.item(kind: name.kind, id: name.id) }
        if found == nil {
            found = try await sourceItems.item(
                kind: name.kind, id: name.id, for: FeedContext(viewer: client.viewer, language: client.language))
        }
        guard let item = found else { throw ActionError.unknownCell(cell) }
        // No page shows it.
        if try await campaigns?.isUnreachable(item, in: store) ?? false { throw ActionError.unknownCell(cell) }
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
    package func perform(
        _ name: String, of cell: String, on list: ViewerList, for client: ClientFingerprint, now: Int64, idempotency: IdempotencyKey? = nil,
        response: @escaping @Sendable (CommandResult) -> [UInt8]
    ) async throws -> Outcome {
        try await once(idempotency) {
            let command = try await command(name, for: cell, on: list, of: client)
            var context = CommandContext(cell: cell, subject: nil, occurrence: .undo, client: client, now: now)
            // Other errors are recorded in the step of the failed command.
            do { try await context.perform(command) } catch let refusal as Refusal { throw refusal } catch {}
            let events = try await assigned(context.events, ofCell: cell, at: now)
            return try await commit(context, events, slot: nil, idempotency: idempotency, response: response)
        }
    }

    /// Returns the commands that performing a command on a list entry would run. It fails as performing would, and runs and writes nothing.
    package func simulate(_ name: String, of cell: String, on list: ViewerList, for client: ClientFingerprint) async throws -> CommandResult
    {
        CommandResult(simulating: try await command(name, for: cell, on: list, of: client).leaves, of: cell, slot: nil)
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

/// The reason why an action was rejected before any command ran.
package enum ActionError: Error, Sendable, Hashable {
    case unknownCell(String)
    case brokenCell(String)
    case nothingToDo(CommandKey, cell: String)
    case viewerRequired(command: String)
    case invalidInput([ItemError])
    case unknownInvocation(String)
    case notUndoable(command: String)
    case alreadyUndone
    case undoExpired
    case undoFailed(command: String, reason: String)
    case keyReused
    case forgedToken
    case gone(String)
}

/// A mutex per name, which serializes requests that must not run concurrently.
/// Requests with one idempotency key are serialized so that the second finds the response of the first.
actor KeyedMutex {
    private var waiting: [ByteString: [CheckedContinuation<Void, Never>]] = [:]

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
