extension ActionPerformer {
    /// A client's word that a cell was seen.
    public struct Sighting: Sendable, Hashable {
        public var cell: String
        public var token: String

        public init(cell: String, token: String) {
            self.cell = cell
            self.token = token
        }
    }

    /// Performs the impressions of cells, and commits them as one unit.
    ///
    /// - Returns: a verdict for each, in order. `unknown` where the token is forged or another cell's, or the cell exists no more:
    ///   nothing vouches for such a sighting, and it leaves no row.
    /// - Throws: ``StoreError``.
    public func impressions(_ sightings: [Sighting], for client: ClientTrace, now: Int64) async throws -> [Verdict] {
        let viewModels = try await viewModels(of: Set(sightings.map(\.cell)), client: client, now: now)
        var entry = LedgerEntry()
        // Which event of the entry, if any, each sighting is.
        var places: [Int?] = []
        for sighting in sightings {
            var client = client
            guard let outcome = verdict(of: sighting, now: now), let viewModel = viewModels[sighting.cell],
                let command = viewModel.commands[.impression]
            else {
                places.append(nil)
                continue
            }
            if client.verdict == .counted { client.verdict = outcome }
            client.token = sighting.token
            let context = await run(command, .impression, on: viewModel, for: client, now: now)
            places.append(context.events.firstIndex { $0.kind == .impression }.map { entry.events.count + $0 })
            entry.events += context.events
            entry.changes += context.changes
        }
        guard !entry.events.isEmpty || !entry.changes.isEmpty else { return sightings.map { _ in .unknown } }
        let verdicts = try await ledger.commit(entry).verdicts
        return places.map { place in
            guard let place, verdicts.indices.contains(place) else { return .unknown }
            return verdicts[place]
        }
    }

    /// Nil where the token does not vouch for the cell.
    private func verdict(of sighting: Sighting, now: Int64) -> Verdict? {
        switch tokens.verifyImpression(sighting.token, now: now) {
        case .valid(let token): token.cell == sighting.cell ? .counted : nil
        case .expired(let token): token.cell == sighting.cell ? .expired : nil
        case .forged: nil
        }
    }

    /// The cells that exist, read from one snapshot.
    private func viewModels(of cells: Set<String>, client: ClientTrace, now: Int64) async throws -> [String: CellViewModel] {
        let context = CellContext(links: links, tokens: tokens, now: now, hasViewer: client.viewer != nil)
        return try await store.read { [factories] snapshot in
            try factories.actingViewModels(of: cells, in: snapshot, context: context)
        }
    }
}
