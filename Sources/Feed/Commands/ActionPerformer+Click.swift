extension ActionPerformer {
    /// A clickthrough that is on disk.
    public struct Click: Sendable, Hashable {
        /// The stored URL. It passed the rules for item URLs when it was stored: absolute, http or https, no control characters.
        public var location: String
        public var cell: String
        public var verdict: Verdict
    }

    /// Follows a clickthrough link: performs the cell's selection, as a click.
    ///
    /// Whatever the verdict, the person is redirected; an expired token only does not count. What the request or the token itself keeps
    /// from counting (a robot, a prefetch, HEAD, an expired token) is nobody's choice: it is recorded, and runs no command.
    /// - Throws: ``ActionError/forgedToken``, ``ActionError/gone(_:)``, ``StoreError``.
    public func click(token text: String, for client: ClientTrace, now: Int64) async throws -> Click {
        let (token, viewModel) = try await destination(of: text, for: client, now: now)
        guard let command = viewModel.commands[.selection], let destination = viewModel.subject.destination else {
            throw ActionError.gone(token.cell)
        }
        var client = client
        if client.verdict == .counted, tokens.isExpired(token, now: now) { client.verdict = .expired }
        // A command beside the clickthrough may fail; the person gets there, and the ledger has the click.
        var context: CommandContext
        if client.verdict != .counted {
            context = makeContext(.click, on: viewModel, for: client, now: now)
        } else if command.isBrief {
            context = await run(command, .click, on: viewModel, for: client, now: now)
        } else {
            context = await withTaskExecutorPreference(globalConcurrentExecutor) { [client] in
                await run(command, .click, on: viewModel, for: client, now: now)
            }
        }
        context.record(.click)
        let receipt = try await ledger.commit(LedgerEntry(events: context.events, changes: context.changes))
        let index = context.events.firstIndex { $0.kind == .click }
        let verdict = index.flatMap { receipt.verdicts.indices.contains($0) ? receipt.verdicts[$0] : nil }
        return Click(location: context.destination ?? destination, cell: token.cell, verdict: verdict ?? client.verdict)
    }

    /// What a token names; from memory, where it was asked for since the store last changed. Where the store has to be asked, the event
    /// loop is left.
    private func destination(
        of text: String, for client: ClientTrace, now: Int64
    ) async throws -> (token: CellToken, viewModel: CellViewModel) {
        let hasViewer = client.viewer != nil
        let state = ClickDestinations.State(version: store.version, hour: CellTokens.bucket(of: now))
        if let known = destinations.destination(of: text, hasViewer: hasViewer, at: state) { return (known.token, known.viewModel) }
        let token: CellToken
        switch tokens.verifyClick(text, now: now) {
        case .valid(let valid): token = valid
        case .expired(let expired): token = expired
        case .forged: throw ActionError.forgedToken
        }
        do {
            let viewModel = try await withTaskExecutorPreference(globalConcurrentExecutor) {
                try await self.viewModel(of: token.cell, slot: token.slot, client: client, now: now)
            }
            destinations.keep(.init(token: token, viewModel: viewModel), of: text, hasViewer: hasViewer, at: state)
            return (token, viewModel)
        } catch ActionError.unknownCell, ActionError.brokenCell {
            throw ActionError.gone(token.cell)
        }
    }
}
