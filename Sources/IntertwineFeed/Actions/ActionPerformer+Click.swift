import Synchronization

extension ActionPerformer {
    package struct Click: Sendable, Hashable {
        package var location: String
        package var cell: String
        package var verdict: Verdict
    }

    /// Why a class: each click passes the value through several closures.
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

    /// A click whose commands have run and whose ledger entry is not committed yet.
    private struct Performed {
        let events: [LedgerEvent]
        let changes: [ListMutation]
        let location: String
        let link: ResolvedLink
    }

    package func click(token text: String, for client: ClientFingerprint, now: Int64) async throws -> Click {
        do {
            let click = try await performed(text, for: client, now: now)
            return try await withCheckedThrowingContinuation { continuation in
                commit(click) { continuation.resume(with: $0) }
            }
        } catch let error as ActionError {
            let reason: Verdict = if case .gone = error { .gone } else { .forged }
            // A failure of the ledger to count the refused click does not change the response.
            _ = try? await ledger.commit(LedgerEntry(refused: [RejectedEvent(.click, reason): 1]))
            throw error
        }
    }

    private func performed(_ text: String, for client: ClientFingerprint, now: Int64) async throws -> Performed {
        guard let token = token(text, now: now) else { throw ActionError.forgedToken }
        _ = try await campaigns?.campaignIndex(of: store)
        if let known = known(token, for: client, now: now) { return try await perform(known) }
        let destination = try await destination(of: token, for: client, now: now)
        guard let link = link(token, destination, for: client, now: now) else { throw ActionError.gone(token.cell) }
        return try await perform(link)
    }

    /// Returns the link if its destination is cached, or nil if the store must be read.
    package func link(token text: String, for client: ClientFingerprint, now: Int64) -> ResolvedLink? {
        token(text, now: now).flatMap { known($0, for: client, now: now) }
    }

    private func known(_ token: ImpressionToken, for client: ClientFingerprint, now: Int64) -> ResolvedLink? {
        let place = linkKey(of: token, for: client)
        // The campaigns are those of the last read, which is at least as recent as the cached destinations.
        return destinations.destination(at: place, in: state(at: now)).flatMap { link(token, $0, for: client, now: now) }
    }

    private func link(
        _ token: ImpressionToken, _ destination: LinkCache.Destination, for client: ClientFingerprint, now: Int64
    ) -> ResolvedLink? {
        let objection = campaigns?.verdict(on: destination.viewModel.subject.item, token.impressionContext)
        guard objection != .gone else { return nil }
        return ResolvedLink(token.cell, destination, self.client(client, with: token, objection, now: now), now)
    }

    private func client(_ client: ClientFingerprint, with token: ImpressionToken, _ objection: Verdict?, now: Int64) -> ClientFingerprint {
        var client = client
        client.impressionContext = token.impressionContext
        client.token = token.impression(sharedWith: factories.firstCell(ofAdWithCompanions: token.cell))
        if client.verdict == .counted { client.verdict = tokens.isExpired(token, now: now) ? .expired : objection ?? .counted }
        return client
    }

    func client(
        _ client: ClientFingerprint, withClickToken text: String, of cell: CellViewModel, now: Int64
    ) async throws -> ClientFingerprint {
        let token = token(text, now: now)
        guard let token, ByteString(token.cell) == ByteString(cell.id) else {
            _ = try? await ledger.commit(LedgerEntry(refused: [RejectedEvent(.click, token == nil ? .forged : .misplaced): 1]))
            throw ActionError.forgedToken
        }
        // The cell exists. If only its campaign keeps the click from counting, the commands still run.
        let objection = campaigns?.verdict(on: cell.subject.item, token.impressionContext)
        return self.client(client, with: token, objection == .gone ? .late : objection, now: now)
    }

    private func token(_ text: String, now: Int64) -> ImpressionToken? {
        switch tokens.verifyClick(text, now: now) {
        case .valid(let token), .expired(let token): token
        case .forged: nil
        }
    }

    /// `completion`: called once, on any thread, usually the thread of the ledger; it must not block that thread.
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

    /// Returns the result of a click without running a command, or nil if a command must run.
    private func directRedirect(_ link: ResolvedLink) -> Performed? {
        let (destination, viewModel) = (link.destination, link.destination.viewModel)
        guard let location = destination.location, destination.isDirectRedirect || link.client.verdict != .counted else { return nil }
        let event = link.client.event(.click, cell: viewModel.id, of: viewModel.subject.creative, at: link.now)
        return Performed(events: attributed([event]), changes: [], location: location, link: link)
    }

    private func perform(_ link: ResolvedLink) async throws -> Performed {
        if let click = directRedirect(link) { return click }
        let viewModel = link.destination.viewModel
        guard let location = link.destination.location else { throw ActionError.gone(link.cell) }
        var context = CommandContext(
            cell: viewModel.id, subject: viewModel.subject, occurrence: .click, client: link.client, now: link.now)
        try? await Self.perform(.selection, of: viewModel, in: &context)
        context.record(.click)
        return Performed(
            events: attributed(context.events), changes: context.changes, location: context.destination ?? location, link: link)
    }

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

    private func linkKey(of token: ImpressionToken, for client: ClientFingerprint) -> LinkCache.LinkKey {
        LinkCache.LinkKey(token, hasViewer: client.viewer != nil, viewer: sourceItems.dependOnViewer ? client.viewer : nil)
    }

    private func state(at now: Int64) -> LinkCache.State {
        LinkCache.State(version: FeedVersion(store: store.version, sources: sourceItems.version), hour: CellTokens.bucket(of: now))
    }

    private func destination(of token: ImpressionToken, for client: ClientFingerprint, now: Int64) async throws -> LinkCache.Destination {
        let state = state(at: now)
        do {
            let viewModel = try await viewModel(of: token.cell, slot: token.slot, client: client, now: now)
            return destinations.store(viewModel, at: linkKey(of: token, for: client), in: state)
        } catch ActionError.unknownCell, ActionError.brokenCell {
            throw ActionError.gone(token.cell)
        }
    }
}

/// A cache of the destinations of recently clicked links. Why: many viewers click on few ads.
/// Entries are valid for one version of the store and one hour, as pages are. A changed URL or a deleted ad is therefore never served from
/// the cache.
final class LinkCache: Sendable {
    struct State: Hashable {
        /// The version of the store and of all data sources, read before the items themselves.
        var version: FeedVersion
        var hour: UInt32
    }

    struct LinkKey: Hashable {
        private let cell: ByteString
        private let slot: Int
        private let hasViewer: Bool
        private let viewer: ByteString?

        init(_ token: ImpressionToken, hasViewer: Bool, viewer: String?) {
            (cell, slot, self.hasViewer, self.viewer) = (ByteString(token.cell), token.slot, hasViewer, viewer.map { ByteString($0) })
        }
    }

    /// Why a class: each click keeps a reference for a short time.
    final class Destination: Sendable {
        let viewModel: CellViewModel
        let location: String?
        let isDirectRedirect: Bool

        init(_ viewModel: CellViewModel) {
            self.viewModel = viewModel
            let selection = viewModel.commands[.selection]
            location = selection == nil ? nil : viewModel.subject.destination
            isDirectRedirect = (selection as? any DirectRedirectCommand)?.isDirectRedirect == true
        }
    }

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

/// A command that can declare that its effect on a click is only the recorded event and the redirect to the stored URL.
private protocol DirectRedirectCommand: Command {
    var isDirectRedirect: Bool { get }
}

extension Analytics: DirectRedirectCommand {
    fileprivate var isDirectRedirect: Bool { true }
}

extension Clickthrough: DirectRedirectCommand {
    fileprivate var isDirectRedirect: Bool { true }
}

extension MacroCommand: DirectRedirectCommand {
    fileprivate var isDirectRedirect: Bool { commands.allSatisfy { ($0 as? any DirectRedirectCommand)?.isDirectRedirect == true } }
}
