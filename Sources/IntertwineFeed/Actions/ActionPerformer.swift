/// An executor of actions on cells.
///
/// It reads the item, builds the view model with the factory of the item, and runs the command of the slot. The effects of all commands are
/// committed to the ledger as one entry before the response is sent. The executor depends on no specific kind or command.
///
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
    /// A callback for events that are durable on disk, with the verdicts of the ledger.
    let eventsDidCommit: @Sendable ([LedgerEvent], [Verdict]) -> Void
    /// The campaigns, or nil if none are configured.
    let campaigns: Campaigns?
    /// The asynchronous data sources of all feeds.
    let elsewhere: SourceItems

    /// - Parameters:
    ///   - undoWindow: the duration of the undo window, in milliseconds; ten minutes by default.
    ///   - eventsDidCommit: a callback for events that are durable on disk, with the verdicts of the ledger.
    ///   - campaigns: the campaigns, which define the advertiser of an event and whether a campaign is running.
    ///   - elsewhere: the asynchronous data sources of all feeds.
    package init(
        store: any FeedStore, ledger: any Ledger, factories: CellFactories, registry: CommandRegistry = .standard, links: Links = Links(),
        tokens: CellTokens, undoWindow: Int64 = 600_000,
        eventsDidCommit: @escaping @Sendable ([LedgerEvent], [Verdict]) -> Void = { _, _ in }, campaigns: Campaigns? = nil,
        elsewhere: SourceItems = SourceItems()
    ) {
        self.elsewhere = elsewhere
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

    /// Returns the events with the advertiser of their campaign in place of the advertiser of the ad.
    func attributed(_ events: [LedgerEvent]) -> [LedgerEvent] {
        guard let campaign = events.first?.showing?.campaign, let name = campaigns?.campaign(campaign)?.advertiser else { return events }
        return events.map { event in
            var event = event
            event.creative?.advertiser = name
            return event
        }
    }

    /// The result of a performed action.
    package enum Outcome: Sendable {
        /// The action was performed and is durable on disk.
        case performed(CommandResult)
        /// The stored response of an earlier identical request with this idempotency key. Nothing was run, or its effects were discarded.
        case replayed(response: [UInt8])
    }

    /// Performs a slot of a cell.
    ///
    /// - Parameters:
    ///   - body: the request body: a JSON object if the slot takes input. It is ignored if the slot takes none.
    ///   - token: the click token of the page that shows the cell. Without a token, all events of an ad's selection, and of a slot that
    ///     records a click or an impression, have the verdict ``Verdict/noToken``.
    ///   - idempotency: the idempotency key of the client. Of two concurrent requests with one key, the second waits for the first and returns
    ///     its response. If they reach different replicas, one is committed and both return its response.
    ///   - response: returns the response bytes, which are stored under the key and returned for a repeated request. The result passed to it has
    ///     the verdicts. It must return the same bytes for each call. It is not called without a key.
    /// - Throws: ``ActionError``, the ``Refusal`` of a command, ``StoreError``. If it throws, nothing is committed and the key is not consumed.
    package func perform(
        _ slot: CommandKey, of cell: String, for client: ClientFingerprint, now: Int64, body: [UInt8] = [], token: String? = nil,
        idempotency: IdempotencyKey? = nil, response: @escaping @Sendable (CommandResult) -> [UInt8]
    ) async throws -> Outcome {
        try await once(idempotency) {
            try await performOnce(
                slot, of: cell, for: client, now: now, body: body, token: token, idempotency: idempotency, response: response)
        }
    }

    /// Performs an action unless its idempotency key has been used. Requests with one key run one after another.
    private func once(_ idempotency: IdempotencyKey?, _ perform: @Sendable () async throws -> Outcome) async throws -> Outcome {
        guard let idempotency else { return try await perform() }
        return try await gate.run(Self.mutexName(of: idempotency)) {
            if let receipt = try await ledger.replay(of: idempotency), let answer = try Self.storedResponse(of: receipt) {
                return .replayed(response: answer)
            }
            return try await perform()
        }
    }

    /// Returns the name of the mutex that serializes requests with an idempotency key.
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
            ? assigned(Self.withoutToken(context.events, of: slot), to: CreativeID(viewModel.subject.item), at: now)
            : attributed(context.events)
        return try await commit(context, events, slot: slot, idempotency: idempotency, response: response)
    }

    /// Performs a slot of a cell. The line performs every interaction, for all cells, slots and commands.
    ///
    /// - Throws: The ``Refusal`` of a command. Other errors are recorded in the step of the failed command.
    static func perform(_ slot: CommandKey, of viewModel: CellViewModel, in context: inout CommandContext) async throws(Refusal) {
        do { try await viewModel.commands[slot]?.perform(in: &context) } catch { if let refusal = error as? Refusal { throw refusal } }
    }

    /// Returns the values of a body for a command.
    private static func input(of command: any Command, in body: [UInt8]) throws(ActionError) -> ActionInput {
        let fields = command.input
        guard !fields.isEmpty else { return ActionInput() }
        let input = try FieldDeclaration.read(fields, in: body)
        do { try command.validate(input.values) } catch { throw .invalidInput([error]) }
        return input
    }

    /// Marks the events of an ad that count only with the token of a page as ``Verdict/noToken``: those of its selection, and those of a slot
    /// that records a click or an impression.
    private static func withoutToken(_ events: [LedgerEvent], of slot: CommandKey) -> [LedgerEvent] {
        let requiresToken = slot == .selection || events.contains { $0.kind == .click || $0.kind == .impression }
        return events.map { requiresToken && $0.creative != nil ? $0.rejected(as: .noToken) : $0 }
    }

    /// Returns events without the token of a page with the campaign that their ad belongs to, so that reports by ad and reports by campaign
    /// agree. If none of its campaigns runs, the events are ``Verdict/late``.
    func assigned(_ events: [LedgerEvent], to creative: CreativeID, at now: Int64) -> [LedgerEvent] {
        guard let owner = campaigns?.owner(of: creative, at: now) else { return events }
        return attributed(
            events.map { event in
                var event = owner.isRunning ? event : event.rejected(as: .late)
                event.showing = owner.campaign.map { ImpressionContext(withoutPage: $0) }
                return event
            })
    }

    /// Commits the effects of commands to the ledger.
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

    /// Commits events and reports them to `eventsDidCommit` before the ledger continues with its next entry.
    func commitSettled(_ entry: LedgerEntry) async throws -> LedgerReceipt {
        try await withCheckedThrowingContinuation { continuation in
            ledger.commit(entry) { [eventsDidCommit] receipt in
                if case .success(let receipt) = receipt { eventsDidCommit(entry.events, receipt.verdicts) }
                continuation.resume(with: receipt)
            }
        }
    }

    /// Returns the commands that performing a slot would run. It fails as performing would, and runs and writes nothing.
    ///
    /// - Throws: the errors of ``perform(_:of:for:now:body:token:idempotency:response:)``.
    package func simulate(
        _ slot: CommandKey, of cell: String, for client: ClientFingerprint, now: Int64, body: [UInt8] = []
    ) async throws -> CommandResult {
        let viewModel = try await viewModel(of: cell, slot: 0, client: client, now: now)
        let command = try command(in: slot, of: viewModel, for: client)
        _ = try Self.input(of: command, in: body)
        return CommandResult(simulating: command.leaves, of: viewModel.id, slot: slot)
    }

    /// Returns the view model of one cell as a page contains it.
    ///
    /// - Throws: ``ActionError/unknownCell(_:)``, ``ActionError/brokenCell(_:)``, ``StoreError``.
    func viewModel(of cell: String, slot: Int, client: ClientFingerprint, now: Int64) async throws -> CellViewModel {
        guard let name = factories.item(ofCell: cell) else { throw ActionError.unknownCell(cell) }
        var found = try await store.read { try $0.item(kind: name.kind, id: name.id) }
        if found == nil { found = try await elsewhere.item(kind: name.kind, id: name.id) }
        guard let item = found else { throw ActionError.unknownCell(cell) }
        // An ad that was withdrawn together with its campaigns counts as taken down itself.
        if try await campaigns?.campaignIndex(of: store)?.isExclusive(CreativeID(kind: name.kind, id: name.id)) ?? false {
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

    /// Returns the command of a slot. It throws if the client cannot perform the command.
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

    /// Returns the response stored under an idempotency key, or nil if the receipt belongs to a new commit.
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
    /// Performs a command on a cell of a viewer's list. The slots of the cell are ignored, and its item may be deleted.
    ///
    /// - Parameters:
    ///   - name: the registered name of the command.
    ///   - idempotency: as for ``perform(_:of:for:now:body:token:idempotency:response:)``.
    /// - Throws: ``ActionError``: `unknownCell` if the cell is not on the list, `viewerRequired`; ``Refusal``, ``StoreError``.
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
    ///
    /// - Throws: the errors of ``perform(_:of:on:for:now:idempotency:response:)``.
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
    /// The cell does not exist: 404 over HTTP.
    case unknownCell(String)
    /// The item cannot be rendered, so its commands cannot be performed either: 404 over HTTP.
    case brokenCell(String)
    /// The slot is empty, which is valid.
    case nothingToDo(CommandKey, cell: String)
    /// The command requires a viewer, and the request has none: 403 over HTTP.
    case viewerRequired(command: String)
    /// The request body is no JSON object (400 over HTTP), or has invalid values for the slot (422). Each error names a value; there is at least
    /// one.
    case invalidInput([ItemError])
    /// The invocation does not exist or belongs to another viewer: 404 over HTTP.
    case unknownInvocation(String)
    /// The command cannot be undone: 409 over HTTP.
    case notUndoable(command: String)
    /// The invocation was already undone: 409 over HTTP.
    case alreadyUndone
    /// The undo window is over: 410 over HTTP.
    case undoExpired
    /// A command failed during the undo. Nothing of the undo is committed, and the client can retry.
    case undoFailed(command: String, reason: String)
    /// The idempotency key was already used for another request: 422 over HTTP.
    case keyReused
    /// The clickthrough token is damaged or has no valid signature: 404 over HTTP, and no redirect.
    case forgedToken
    /// The ad of a clickthrough token is deleted or has no destination any more: 410 over HTTP.
    case gone(String)
}

/// A mutex per name, which serializes requests that must not run concurrently.
///
/// Requests with one idempotency key are serialized so that the second finds the response of the first. Undo requests for one selection are
/// serialized as well. The mutex is local to one process. Between replicas the ledger decides: one of two requests is committed, and both
/// return its response.
actor KeyedMutex {
    /// The waiting continuations for each name that is in use.
    private var waiting: [ByteString: [CheckedContinuation<Void, Never>]] = [:]

    /// Runs `body` while no other body with this name is running.
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
