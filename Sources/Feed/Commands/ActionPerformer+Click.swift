extension ActionPerformer {
    /// A clickthrough that is on disk.
    public struct Click: Sendable, Hashable {
        /// The stored URL. It passed the rules for item URLs when it was stored: absolute, http or https, no control characters.
        public var location: String
        public var cell: String
        public var verdict: Verdict
    }

    /// A click that has been performed, and that only the ledger still has to take.
    public struct PerformedClick: Sendable {
        fileprivate let entry: LedgerEntry
        fileprivate let location: String
        fileprivate let cell: String
        fileprivate let verdict: Verdict

        fileprivate func judged(_ receipt: LedgerReceipt) -> Click {
            let index = entry.events.firstIndex { $0.kind == .click }
            let verdict = index.flatMap { receipt.verdicts.indices.contains($0) ? receipt.verdicts[$0] : nil }
            return Click(location: location, cell: cell, verdict: verdict ?? self.verdict)
        }
    }

    /// Follows a clickthrough link: performs the cell's selection, as a click.
    ///
    /// Whatever the verdict, the person is redirected; an expired token only does not count. What the request or the token itself keeps
    /// from counting (a robot, a prefetch, HEAD, an expired token) is nobody's choice: it is recorded, and runs no command.
    /// - Throws: ``ActionError/forgedToken``, ``ActionError/gone(_:)``, ``StoreError``.
    public func click(token text: String, for client: ClientTrace, now: Int64) async throws -> Click {
        let click: PerformedClick
        if let brief = performBriefly(token: text, for: client, now: now) {
            click = brief
        } else {
            let destination = try await destination(of: text, for: client, now: now)
            let client = judged(client, destination.token, now: now)
            let context =
                if client.verdict == .counted, let command = destination.viewModel.commands[.selection] {
                    await run(command, .click, on: destination.viewModel, for: client, now: now)
                } else {
                    makeContext(.click, on: destination.viewModel, for: client, now: now)
                }
            guard let performed = performed(context, on: destination) else { throw ActionError.gone(destination.token.cell) }
            click = performed
        }
        return click.judged(try await ledger.commit(click.entry))
    }

    /// Performs a click without suspending: nil where the store has to be asked what the link leads to, or a command may take its time.
    public func performBriefly(token text: String, for client: ClientTrace, now: Int64) -> PerformedClick? {
        let known = destinations.destination(of: text, hasViewer: client.viewer != nil, at: state(at: now))
        guard let destination = known else { return nil }
        let client = judged(client, destination.token, now: now)
        if client.verdict != .counted {
            return performed(makeContext(.click, on: destination.viewModel, for: client, now: now), on: destination)
        }
        guard let command = destination.viewModel.commands[.selection] else { return nil }
        return runBriefly(command, .click, on: destination.viewModel, for: client, now: now).flatMap { performed($0, on: destination) }
    }

    /// Has the ledger take a click.
    ///
    /// - Parameter completion: called once, on a thread of the ledger's own, which it must not hold up. It fails with ``StoreError``.
    public func commit(_ click: PerformedClick, completion: @escaping @Sendable (Result<Click, any Error>) -> Void) {
        ledger.commit(click.entry) { completion($0.map(click.judged)) }
    }

    private func judged(_ client: ClientTrace, _ token: CellToken, now: Int64) -> ClientTrace {
        guard client.verdict == .counted, tokens.isExpired(token, now: now) else { return client }
        var client = client
        client.verdict = .expired
        return client
    }

    /// Nil where the cell leads nowhere any more. A command beside the clickthrough may have failed: the person gets there, and the ledger
    /// has the click.
    private func performed(_ context: CommandContext, on destination: ClickDestinations.Destination) -> PerformedClick? {
        let viewModel = destination.viewModel
        guard viewModel.commands[.selection] != nil, let location = viewModel.subject.destination else { return nil }
        var context = context
        context.record(.click)
        return PerformedClick(
            entry: LedgerEntry(events: context.events, changes: context.changes), location: context.destination ?? location,
            cell: destination.token.cell, verdict: context.client.verdict)
    }

    private func state(at now: Int64) -> ClickDestinations.State {
        ClickDestinations.State(version: store.version, hour: CellTokens.bucket(of: now))
    }

    /// What a link leads to, asked of the store, and remembered until that changes.
    private func destination(
        of text: String, for client: ClientTrace, now: Int64
    ) async throws -> ClickDestinations.Destination {
        let state = state(at: now)
        let token: CellToken
        switch tokens.verifyClick(text, now: now) {
        case .valid(let valid): token = valid
        case .expired(let expired): token = expired
        case .forged: throw ActionError.forgedToken
        }
        do {
            let viewModel = try await viewModel(of: token.cell, slot: token.slot, client: client, now: now)
            let destination = ClickDestinations.Destination(token: token, viewModel: viewModel)
            destinations.keep(destination, of: text, hasViewer: client.viewer != nil, at: state)
            return destination
        } catch ActionError.unknownCell, ActionError.brokenCell {
            throw ActionError.gone(token.cell)
        }
    }
}
