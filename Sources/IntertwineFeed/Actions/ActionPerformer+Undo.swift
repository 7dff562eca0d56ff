extension ActionPerformer {
    package func undo(invocation id: String, for client: ClientFingerprint, now: Int64) async throws -> [StepResult] {
        try await undoSerially(invocation: id, for: client, now: now, idempotency: nil).steps
    }

    package enum UndoOutcome: Sendable {
        case undone([StepResult])
        case replayed(response: [UInt8])
    }

    package func undo(
        invocation id: String, for client: ClientFingerprint, now: Int64, idempotency: IdempotencyKey,
        response: @escaping @Sendable ([StepResult]) -> [UInt8]
    ) async throws -> UndoOutcome {
        try await gate.run(Self.mutexName(of: idempotency)) {
            if let receipt = try await ledger.replay(of: idempotency), let stored = try Self.storedResponse(of: receipt) {
                return .replayed(response: stored)
            }
            let (steps, replayed) = try await undoSerially(invocation: id, for: client, now: now, idempotency: (idempotency, response))
            return replayed.map { .replayed(response: $0) } ?? .undone(steps)
        }
    }

    /// Returns the commands that ``undo(invocation:for:now:)`` would revert. It fails as the undo would, and runs and writes nothing.
    package func simulateUndo(invocation id: String, for client: ClientFingerprint, now: Int64) async throws -> [StepResult] {
        try await undoable(id, for: client, now: now).steps.reversed().map { command, _ in
            StepResult(command: command.name, outcome: .simulated)
        }
    }

    private typealias Idempotency = (key: IdempotencyKey, answer: @Sendable ([StepResult]) -> [UInt8])

    private func undoSerially(
        invocation id: String, for client: ClientFingerprint, now: Int64, idempotency: Idempotency?
    ) async throws -> (steps: [StepResult], replayed: [UInt8]?) {
        try await gate.run("undo\u{0}\(id)") { try await undoAlone(invocation: id, for: client, now: now, idempotency: idempotency) }
    }

    private func undoAlone(
        invocation id: String, for client: ClientFingerprint, now: Int64, idempotency: Idempotency?
    ) async throws -> (steps: [StepResult], replayed: [UInt8]?) {
        let (record, steps) = try await undoable(id, for: client, now: now)
        var context = CommandContext(cell: record.cell, subject: nil, occurrence: .undo, client: client, now: now)
        context.record(.undo)
        for (command, bytes) in steps.reversed() {
            context.command = command.name
            do {
                try await command.undo(bytes, in: &context)
            } catch CommandError.missing(.viewer, let name) {
                throw ActionError.viewerRequired(command: name)
            } catch let refusal as Refusal {
                throw refusal
            } catch {
                throw ActionError.undoFailed(command: command.name, reason: String(describing: error))
            }
            context.recordUndone(command)
        }
        context.revertSelection(id)
        let done = context.steps
        let events = try await assigned(context.events, ofCell: record.cell, at: now)
        let receipt = try await ledger.commit(
            LedgerEntry(
                events: events, changes: context.changes, undoes: id,
                idempotency: idempotency.map { idempotency in (key: idempotency.key, answer: { _ in idempotency.answer(done) }) }))
        return (done, try Self.storedResponse(of: receipt))
    }

    func assigned(_ events: [LedgerEvent], ofCell cell: String, at now: Int64) async throws -> [LedgerEvent] {
        guard !events.isEmpty, let name = factories.item(ofCell: cell) else { return events }
        let forms = CellLayout.allCases.flatMap { factories.advertisementForms(in: $0) }.filter { $0.kind == name.kind }
        guard !forms.isEmpty else { return events }
        _ = try await campaigns?.campaignIndex(of: store)
        let item = try await store.read { try $0.item(kind: name.kind, id: name.id) }
        if let item, !forms.contains(ItemType(kind: item.kind, variant: item.variant)) { return events }
        let info = item.map { CreativeInfo($0) } ?? CreativeInfo(form: name.kind)
        let named = events.map { event in
            var event = event
            event.creative = info
            return event
        }
        return item.map { assigned(named, to: $0, at: now) } ?? named
    }

    private func undoable(
        _ id: String, for client: ClientFingerprint, now: Int64
    ) async throws -> (record: CommandRecord, steps: [(any UndoableCommand, [UInt8])]) {
        guard let record = try await ledger.selection(id: id), Self.isOwner(client, of: record) else {
            throw ActionError.unknownInvocation(id)
        }
        let steps = try undoableSteps(of: record)
        guard record.undoneAt == nil else { throw ActionError.alreadyUndone }
        // A record whose window ends later than that of an invocation performed now was created by a clock that was ahead.
        let (end, isEndless) = now.addingReportingOverflow(max(0, undoWindow))
        let (latest, isLater) = end.addingReportingOverflow(CellTokens.skew)
        guard now <= record.expires, isEndless || isLater || record.expires <= latest else { throw ActionError.undoExpired }
        return (record, steps)
    }

    private static func isOwner(_ client: ClientFingerprint, of record: CommandRecord) -> Bool {
        guard let owner = record.viewer else { return true }
        return client.viewer.map { ByteString($0) == ByteString(owner) } ?? false
    }

    private func undoableSteps(of record: CommandRecord) throws(ActionError) -> [(any UndoableCommand, [UInt8])] {
        var steps: [(any UndoableCommand, [UInt8])] = []
        for step in record.steps {
            guard let bytes = step.undo, let command = registry.undoing(step.command) else {
                throw .notUndoable(command: step.command)
            }
            steps.append((command, bytes))
        }
        return steps
    }
}
