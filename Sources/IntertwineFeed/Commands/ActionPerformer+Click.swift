import Synchronization

extension ActionPerformer {
    /// A clickthrough that is on disk.
    package struct Click: Sendable, Hashable {
        /// The stored URL. It passed the rules for item URLs when it was stored: absolute, http or https, no control characters.
        package var location: String
        package var cell: String
        package var verdict: Verdict
    }

    /// A clickthrough link of which it is known where it leads, and who follows it. A class, as each click passes it on a few times.
    package final class ResolvedLink: Sendable {
        fileprivate let cell: String
        fileprivate let destination: LinkCache.Destination
        fileprivate let client: ClientFingerprint
        fileprivate let now: Int64

        fileprivate init(_ cell: String, _ destination: LinkCache.Destination, _ client: consuming ClientFingerprint, _ now: Int64) {
            self.cell = cell
            self.destination = destination
            self.client = client
            self.now = now
        }
    }

    /// A click that has been performed, and that only the ledger still has to take.
    private struct Performed {
        let events: [LedgerEvent]
        let changes: [ListMutation]
        let location: String
        let link: ResolvedLink
    }

    /// Follows a clickthrough link: performs the cell's selection, as a click.
    ///
    /// Whatever the verdict, the person is redirected; an expired token only does not count. What the request or the token itself keeps
    /// from counting (a robot, a prefetch, HEAD, an expired token) is nobody's choice: it is recorded, and runs no command.
    /// - Throws: ``ActionError/forgedToken``, ``ActionError/gone(_:)``, ``StoreError``.
    package func click(token text: String, for client: ClientFingerprint, now: Int64) async throws -> Click {
        do {
            let click = try await performed(text, for: client, now: now)
            return try await withCheckedThrowingContinuation { continuation in
                commit(click) { continuation.resume(with: $0) }
            }
        } catch let error as ActionError {
            let reason: Verdict = if case .gone = error { .gone } else { .forged }
            // A ledger that cannot count it is no reason to answer something else.
            _ = try? await ledger.commit(LedgerEntry(refused: [RejectedEvent(.click, reason): 1]))
            throw error
        }
    }

    private func performed(_ text: String, for client: ClientFingerprint, now: Int64) async throws -> Performed {
        guard let token = token(text, now: now) else { throw ActionError.forgedToken }
        _ = try await campaigns?.book(of: store)
        if let known = known(token, for: client, now: now) { return try await perform(known) }
        let destination = try await destination(of: token, for: client, now: now)
        guard let link = link(token, destination, for: client, now: now) else { throw ActionError.gone(token.cell) }
        return try await perform(link)
    }

    /// The link of which it is known where it leads; nil where the store has to be asked.
    package func link(token text: String, for client: ClientFingerprint, now: Int64) -> ResolvedLink? {
        token(text, now: now).flatMap { known($0, for: client, now: now) }
    }

    private func known(_ token: ImpressionToken, for client: ClientFingerprint, now: Int64) -> ResolvedLink? {
        let place = LinkCache.LinkKey(token, hasViewer: client.viewer != nil)
        // Campaigns are as of the last look, which is no older than what is kept.
        return destinations.destination(at: place, in: state(at: now)).flatMap { link(token, $0, for: client, now: now) }
    }

    /// Nil if the cell is gone with its campaign.
    private func link(
        _ token: ImpressionToken, _ destination: LinkCache.Destination, for client: ClientFingerprint, now: Int64
    ) -> ResolvedLink? {
        let objection = campaigns?.verdict(on: .click, of: CreativeID(destination.viewModel.subject.item), token.showing, at: now)
        guard objection != .gone else { return nil }
        return ResolvedLink(token.cell, destination, self.client(client, with: token, objection, now: now), now)
    }

    /// The client as one who has a page's click token.
    ///
    /// - Parameter objection: why campaigns do not let the click count; nil if they do.
    private func client(_ client: ClientFingerprint, with token: ImpressionToken, _ objection: Verdict?, now: Int64) -> ClientFingerprint {
        var client = client
        client.showing = token.showing
        if client.counting.countsSeenClicksAlone || token.showing?.campaign != nil { client.token = token.impression }
        if client.verdict == .counted { client.verdict = tokens.isExpired(token, now: now) ? .expired : objection ?? .counted }
        return client
    }

    /// The same for a token as a request has it.
    ///
    /// - Throws: ``ActionError/forgedToken`` where it is none of ours, or another cell's.
    func client(
        _ client: ClientFingerprint, withClickToken text: String, of cell: CellViewModel, now: Int64
    ) async throws -> ClientFingerprint {
        let token = token(text, now: now)
        guard let token, ByteString(token.cell) == ByteString(cell.id) else {
            _ = try? await ledger.commit(LedgerEntry(refused: [RejectedEvent(.click, token == nil ? .forged : .misplaced): 1]))
            throw ActionError.forgedToken
        }
        // The cell itself is there: of what only its campaign keeps from counting, the rest is performed.
        let objection = campaigns?.verdict(on: .click, of: CreativeID(cell.subject.item), token.showing, at: now)
        return self.client(client, with: token, objection == .gone ? .late : objection, now: now)
    }

    /// What a link's token says, be it too old to count; nil where it was never ours.
    private func token(_ text: String, now: Int64) -> ImpressionToken? {
        switch tokens.verifyClick(text, now: now) {
        case .valid(let token), .expired(let token): token
        case .forged: nil
        }
    }

    /// Follows a link without waiting anywhere: on the thread that it is called on, up to the first command that suspends. Most links' commands
    /// do nothing that a click would not do by itself, and have no task made for them.
    ///
    /// - Parameter completion: called once, on whatever thread it happens to be, mostly the ledger's own: it must not hold that up. It fails
    ///   as ``click(token:for:now:)`` does.
    package func follow(_ link: ResolvedLink, completion: @escaping @Sendable (Result<Click, any Error>) -> Void) {
        if let click = directRedirect(link) { return commit(click, completion: completion) }
        Task.immediate { [self] in
            do {
                commit(try await perform(link), completion: completion)
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// What following a link comes to where no command has to run for it: none does for what does not count, and those of most links would record
    /// the click and lead to the stored URL, as this does.
    private func directRedirect(_ link: ResolvedLink) -> Performed? {
        guard let selection = link.destination.selection, selection.isDirectRedirect || link.client.verdict != .counted else { return nil }
        let viewModel = link.destination.viewModel
        var event = link.client.event(.click, cell: viewModel.id, at: link.now)
        event.creative = viewModel.subject.creative
        return Performed(events: attributed([event]), changes: [], location: selection.location, link: link)
    }

    /// - Throws: ``ActionError/gone(_:)`` where the cell leads nowhere any more. A command beside the clickthrough may have failed: the person
    ///   gets there, and the ledger has the click.
    private func perform(_ link: ResolvedLink) async throws -> Performed {
        if let click = directRedirect(link) { return click }
        guard let selection = link.destination.selection else { throw ActionError.gone(link.cell) }
        var context = CommandContext(
            cell: link.destination.viewModel.id, subject: link.destination.viewModel.subject, occurrence: .click, client: link.client,
            now: link.now)
        // What failed is noted with its step.
        try? await context.perform(selection.command)
        context.record(.click)
        return Performed(
            events: attributed(context.events), changes: context.changes, location: context.destination ?? selection.location, link: link)
    }

    /// Has the ledger take a click, and tells of its events before the completion is called.
    private func commit(_ click: Performed, completion: @escaping @Sendable (Result<Click, any Error>) -> Void) {
        let (events, location, link) = (click.events, click.location, click.link)
        ledger.commit(LedgerEntry(events: events, changes: click.changes)) { [eventsDidCommit] receipt in
            completion(
                receipt.map { receipt in
                    eventsDidCommit(events, receipt.verdicts)
                    let verdict = zip(events, receipt.verdicts).first { event, _ in event.kind == .click }?.1
                    return Click(location: location, cell: link.cell, verdict: verdict ?? link.client.verdict)
                })
        }
    }

    private func state(at now: Int64) -> LinkCache.State {
        LinkCache.State(version: store.version, hour: CellTokens.bucket(of: now))
    }

    /// What a link leads to, asked of the store, and remembered until that changes.
    private func destination(of token: ImpressionToken, for client: ClientFingerprint, now: Int64) async throws -> LinkCache.Destination {
        let state = state(at: now)
        do {
            let viewModel = try await viewModel(of: token.cell, slot: token.slot, client: client, now: now)
            return destinations.store(viewModel, at: LinkCache.LinkKey(token, hasViewer: client.viewer != nil), in: state)
        } catch ActionError.unknownCell, ActionError.brokenCell {
            throw ActionError.gone(token.cell)
        }
    }
}

/// Where the links of cells lead that were clicked of late: many people click on few advertisements.
///
/// Good for one state of the store and one hour, as pages are: a URL that was changed, or an advertisement that is gone, is never served
/// from here. It is asked of tokens whose signature was found to be ours, and of no others.
final class LinkCache: Sendable {
    struct State: Hashable {
        /// Read before the store is.
        var version: StoreVersion
        /// The hour that a view model's own tokens are of.
        var hour: UInt32
    }

    /// What the links of all pages that show a cell have in common.
    struct LinkKey: Hashable {
        private let cell: ByteString
        private let slot: Int
        private let hasViewer: Bool

        init(_ token: ImpressionToken, hasViewer: Bool) {
            (cell, slot, self.hasViewer) = (ByteString(token.cell), token.slot, hasViewer)
        }
    }

    /// A class: each click holds one for a while.
    final class Destination: Sendable {
        /// What is performed for a click, and where it leads unless that says something else.
        struct Selection {
            let command: any Command
            let location: String
            /// Whether it comes to the click and the location alone.
            let isDirectRedirect: Bool
        }

        let viewModel: CellViewModel
        /// Nil where the cell leads nowhere any more.
        let selection: Selection?

        init(_ viewModel: CellViewModel) {
            self.viewModel = viewModel
            selection = viewModel.commands[.selection].flatMap { command in
                viewModel.subject.destination.map {
                    Selection(
                        command: command, location: $0, isDirectRedirect: (command as? any DirectRedirectCommand)?.isDirectRedirect == true)
                }
            }
        }
    }

    /// Destinations kept; when there are more, all are forgotten.
    private static let capacity = 1_024

    private let known = Mutex<(state: State?, destinations: [LinkKey: Destination])>((nil, [:]))

    func destination(at place: LinkKey, in state: State) -> Destination? {
        known.withLock { $0.state == state ? $0.destinations[place] : nil }
    }

    func store(_ viewModel: CellViewModel, at place: LinkKey, in state: State) -> Destination {
        let destination = Destination(viewModel)
        known.withLock { known in
            if known.state != state || known.destinations.count >= Self.capacity { known = (state, [:]) }
            known.destinations[place] = destination
        }
        return destination
    }
}
