extension ActionPerformer {
    package struct ImpressionReport: Sendable, Hashable {
        package var cell: String
        package var token: String
        package var slot: CommandKey

        package init(cell: String, token: String, slot: CommandKey = .impression) {
            self.cell = cell
            self.token = token
            self.slot = slot
        }
    }

    /// A request without counted events and without other effects does not consume its key. Why: repeating the request has no effect
    /// either, and unlimited keys would fill the disk.
    package func impressions(
        _ reports: [ImpressionReport], for client: ClientFingerprint, now: Int64, idempotency: IdempotencyKey? = nil
    ) async throws -> [Verdict] {
        guard let idempotency else { return try await impressionsOnce(reports, for: client, now: now, idempotency: nil) }
        return try await gate.run(Self.mutexName(of: idempotency)) {
            if let receipt = try await ledger.replay(of: idempotency) { return try Self.verdicts(at: [], of: receipt) }
            return try await impressionsOnce(reports, for: client, now: now, idempotency: idempotency)
        }
    }

    private func impressionsOnce(
        _ reports: [ImpressionReport], for client: ClientFingerprint, now: Int64, idempotency: IdempotencyKey?
    ) async throws -> [Verdict] {
        var (entry, places) = try await unit(of: reports, for: client, now: now)
        // A request without effects does not consume its key, and neither does a rejected request. A ledger that cannot count it causes no error.
        guard !entry.events.isEmpty || !entry.changes.isEmpty else {
            if !entry.refused.isEmpty { _ = try? await ledger.commit(entry) }
            return reports.map { _ in .unknown }
        }
        let leavesMore = !entry.changes.isEmpty
        let answer: @Sendable ([Verdict]) -> [UInt8]? = { [places] verdicts in
            guard leavesMore || verdicts.contains(.counted) else { return nil }
            return Self.verdicts(at: places, of: verdicts).storedText
        }
        entry.idempotency = idempotency.map { (key: $0, answer: answer) }
        return try Self.verdicts(at: places, of: try await commitSettled(entry))
    }

    private static func verdicts(at places: [Int?], of receipt: LedgerReceipt) throws(ActionError) -> [Verdict] {
        try storedResponse(of: receipt).map([Verdict].init(storedText:)) ?? verdicts(at: places, of: receipt.verdicts)
    }

    private static func verdicts(at places: [Int?], of verdicts: [Verdict]) -> [Verdict] {
        places.map { place in
            guard let place, verdicts.indices.contains(place) else { return .unknown }
            return verdicts[place]
        }
    }

    private func unit(
        of reports: [ImpressionReport], for client: ClientFingerprint, now: Int64
    ) async throws -> (entry: LedgerEntry, places: [Int?]) {
        _ = try await campaigns?.campaignIndex(of: store)
        // Forged reports cause no read of a data source.
        let signed = sourceItems.isEmpty ? [] : reports.filter { verdict(on: $0, now: now).1 != nil }
        let viewModels = try await viewModels(
            of: Set(reports.map { ByteString($0.cell) }), signed: Set(signed.map { ByteString($0.cell) }), client: client, now: now)
        var entry = LedgerEntry()
        var places: [Int?] = []
        for report in reports {
            var client = client
            let kind = report.slot.occurrence
            func refuse(_ reason: Verdict) {
                places.append(nil)
                entry.refused[RejectedEvent(kind, reason), default: 0] += 1
            }
            let (outcome, token) = verdict(on: report, now: now)
            guard let token else {
                refuse(outcome)
                continue
            }
            let viewModel = viewModels[ByteString(report.cell)]
            let objection = viewModel.flatMap { campaigns?.verdict(on: $0.subject.item, token.impressionContext) }
            guard let viewModel, objection != .gone else {
                refuse(.gone)
                continue
            }
            guard viewModel.commands[report.slot] != nil,
                report.slot == .impression || viewModel.commands.reported.contains(report.slot)
            else {
                refuse(.misplaced)
                continue
            }
            if client.verdict == .counted { client.verdict = outcome == .counted ? objection ?? .counted : outcome }
            if client.verdict == .counted, let served = token.impressionContext?.served,
                now < served + viewModel.leastTime(before: report.slot)
            {
                client.verdict = .tooEarly
            }
            let first = report.slot == .impression ? factories.firstCell(ofAdWithCompanions: token.cell) : nil
            client.token = token.impression(sharedWith: first)
            client.impressionContext = token.impressionContext
            var context = CommandContext(
                cell: first ?? viewModel.id, subject: viewModel.subject, occurrence: kind, client: client, now: now)
            if client.verdict == .counted {
                try? await Self.perform(report.slot, of: viewModel, in: &context)
            } else {
                // An impression that does not count is recorded and runs no command, as for clicks.
                context.record(kind)
            }
            places.append(context.events.firstIndex { $0.kind == kind }.map { entry.events.count + $0 })
            entry.events += attributed(context.events)
            entry.changes += context.changes
        }
        return (entry, places)
    }

    private func verdict(on report: ImpressionReport, now: Int64) -> (Verdict, ImpressionToken?) {
        let (verdict, token): (Verdict, ImpressionToken)
        switch tokens.verifyImpression(report.token, now: now) {
        case .valid(let valid): (verdict, token) = (.counted, valid)
        case .expired(let expired): (verdict, token) = (.expired, expired)
        case .forged: return (.forged, nil)
        }
        return ByteString(token.cell) == ByteString(report.cell) ? (verdict, token) : (.misplaced, nil)
    }

    private func viewModels(
        of cells: Set<ByteString>, signed: Set<ByteString>, client: ClientFingerprint, now: Int64
    ) async throws -> [ByteString: CellViewModel] {
        let context = CellContext(links: links, tokens: tokens, now: now, hasViewer: client.viewer != nil)
        let others = try await sourceItems.items(
            ofCells: signed, missingIn: store, factories,
            for: FeedContext(viewer: client.viewer, language: client.language))
        return try await store.read { [factories] snapshot in
            try factories.actingViewModels(of: cells, in: snapshot, besides: others, context: context)
        }
    }
}

extension CellViewModel {
    /// Returns the milliseconds after the page before which a client cannot have viewed the cell, or played its media so far.
    ///
    /// Half of the media's time is enough, because players can be faster.
    fileprivate func leastTime(before slot: CommandKey) -> Int64 {
        if slot == .impression { return Int64((commands.viewability ?? Viewability()).seconds * 1_000) }
        let share: [CommandKey: Double] = ["firstQuartile": 0.25, "midpoint": 0.5, "thirdQuartile": 0.75, "complete": 1]
        guard let share = share[slot], let duration = (try? Advertisement(item: subject.item))?.duration else { return 0 }
        return Int64(share * duration * 500)
    }
}

/// The text form in which the verdicts of a request are stored under its idempotency key.
extension [Verdict] {
    fileprivate var storedText: [UInt8] {
        var runs: [(verdict: Verdict, count: Int)] = []
        for verdict in self {
            if runs.last?.verdict == verdict { runs[runs.count - 1].count += 1 } else { runs.append((verdict, 1)) }
        }
        return Array<UInt8>(
            runs.map { $0.count == 1 ? $0.verdict.rawValue : "\($0.verdict.rawValue)*\($0.count)" }.joined(separator: ",").utf8)
    }

    fileprivate init(storedText text: [UInt8]) {
        self = String(decoding: text, as: UTF8.self).split(separator: ",").flatMap { run -> [Verdict] in
            let parts = run.split(separator: "*", maxSplits: 1)
            let verdict = parts.first.flatMap { Verdict(rawValue: String($0)) } ?? .unknown
            return Array(repeating: verdict, count: parts.count > 1 ? Swift.max(0, Int(parts[1]) ?? 1) : 1)
        }
    }
}
