import Synchronization

extension ActionPerformer {
    /// A clickthrough that is on disk.
    package struct Click: Sendable, Hashable {
        /// The stored URL. It passed the rules for item URLs when it was stored: absolute, http or https, no control characters.
        package var location: String
        package var cell: String
        package var verdict: Verdict
    }

    /// A clickthrough link of which it is known where it leads, and who follows it.
    package struct KnownLink: Sendable {
        fileprivate let destination: ClickDestinations.Destination
        fileprivate let client: ClientTrace
        fileprivate let now: Int64
    }

    /// A click that has been performed, and that only the ledger still has to take.
    private struct Performed: Sendable {
        let entry: LedgerEntry
        let location: String
        let cell: String
        let verdict: Verdict

        func judged(_ receipt: LedgerReceipt) -> Click {
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
    package func click(token text: String, for client: ClientTrace, now: Int64) async throws -> Click {
        let link: KnownLink
        if let known = self.link(token: text, for: client, now: now) {
            link = known
        } else {
            let destination = try await destination(of: text, for: client, now: now)
            link = KnownLink(destination: destination, client: judged(client, destination.token, now: now), now: now)
        }
        let click = try await perform(link)
        return click.judged(try await ledger.commit(click.entry))
    }

    /// The link of which it is known where it leads; nil where the store has to be asked.
    package func link(token text: String, for client: ClientTrace, now: Int64) -> KnownLink? {
        let known = destinations.destination(of: text, hasViewer: client.viewer != nil, at: state(at: now))
        return known.map { KnownLink(destination: $0, client: judged(client, $0.token, now: now), now: now) }
    }

    /// Follows a link without waiting anywhere: on the thread that it is called on, up to the first command that suspends. Most links' commands
    /// do not, and have the ledger take the click before this returns.
    ///
    /// - Parameter completion: called once, on whatever thread it happens to be, mostly the ledger's own: it must not hold that up. It fails
    ///   as ``click(token:for:now:)`` does.
    package func follow(_ link: KnownLink, completion: @escaping @Sendable (Result<Click, any Error>) -> Void) {
        Task.immediate { [self] in
            do {
                let click = try await perform(link)
                ledger.commit(click.entry) { completion($0.map(click.judged)) }
            } catch {
                completion(.failure(error))
            }
        }
    }

    /// - Throws: ``ActionError/gone(_:)`` where the cell leads nowhere any more. A command beside the clickthrough may have failed: the person
    ///   gets there, and the ledger has the click.
    private func perform(_ link: KnownLink) async throws -> Performed {
        let (viewModel, client) = (link.destination.viewModel, link.client)
        guard viewModel.commands[.selection] != nil, let location = viewModel.subject.destination else {
            throw ActionError.gone(link.destination.token.cell)
        }
        var context = CommandContext(cell: viewModel.id, subject: viewModel.subject, occurrence: .click, client: client, now: link.now)
        if client.verdict == .counted { context = await perform(.selection, of: viewModel, in: context) }
        context.record(.click)
        return Performed(
            entry: LedgerEntry(events: context.events, changes: context.changes), location: context.destination ?? location,
            cell: link.destination.token.cell, verdict: client.verdict)
    }

    private func judged(_ client: ClientTrace, _ token: CellToken, now: Int64) -> ClientTrace {
        guard client.verdict == .counted, tokens.isExpired(token, now: now) else { return client }
        var client = client
        client.verdict = .expired
        return client
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

/// Where links lead that were clicked of late: many people click on few advertisements.
///
/// Good for one state of the store and one hour, as pages are: a URL that was changed, or an advertisement that is gone, is never served
/// from here. It holds tokens whose signature was found to be ours, and no others.
final class ClickDestinations: Sendable {
    /// A class: each click holds one for a while.
    final class Destination: Sendable {
        let token: CellToken
        let viewModel: CellViewModel

        init(token: CellToken, viewModel: CellViewModel) {
            self.token = token
            self.viewModel = viewModel
        }
    }

    struct State: Hashable {
        /// Read before the store is.
        var version: StoreVersion
        /// The hour that a view model's own tokens are of.
        var hour: UInt32
    }

    private struct Key: Hashable {
        var token: ExactText
        var hasViewer: Bool
    }

    /// Destinations kept; when there are more, all are forgotten.
    private static let capacity = 1_024

    private let known = Mutex<(state: State?, destinations: [Key: Destination])>((nil, [:]))

    func destination(of token: String, hasViewer: Bool, at state: State) -> Destination? {
        known.withLock { $0.state == state ? $0.destinations[Key(token: ExactText(token), hasViewer: hasViewer)] : nil }
    }

    func keep(_ destination: Destination, of token: String, hasViewer: Bool, at state: State) {
        known.withLock { known in
            if known.state != state || known.destinations.count >= Self.capacity { known = (state, [:]) }
            known.destinations[Key(token: ExactText(token), hasViewer: hasViewer)] = destination
        }
    }
}
