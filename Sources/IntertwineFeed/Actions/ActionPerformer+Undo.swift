extension ActionPerformer {
    /// Undoes an invocation: reverts its commands in reverse order, once, before the undo window ends. The item may be deleted already.
    ///
    /// - Returns: the result of each command, in undo order.
    /// - Throws: ``ActionError``, the ``Refusal`` of a command, ``StoreError``. If it throws, nothing is committed.
    package func undo(invocation id: String, for client: ClientFingerprint, now: Int64) async throws -> [StepResult] {
        try await undoSerially(invocation: id, for: client, now: now, idempotency: nil).steps
    }

    /// The result of an undo request with an idempotency key.
    package enum UndoOutcome: Sendable {
        /// The result of each command, in undo order.
        case undone([StepResult])
        /// The stored response of an earlier identical request with this key.
        case replayed(response: [UInt8])
    }

    /// Undoes an invocation under an idempotency key. A repeated request returns the stored response.
    ///
    /// - Parameter response: returns the bytes to store under the key.
    /// - Throws: ``ActionError``, ``StoreError``. If it throws, nothing is committed and the key is not consumed.
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
    ///
    /// - Throws: the errors of ``undo(invocation:for:now:)``.
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

    /// Returns the events of a cell whose item may be deleted, with the data of its ad, and assigned as by ``assigned(_:to:at:)``.
    func assigned(_ events: [LedgerEvent], ofCell cell: String, at now: Int64) async throws -> [LedgerEvent] {
        guard !events.isEmpty, let name = factories.item(ofCell: cell) else { return events }
        let forms = CellLayout.allCases.flatMap { factories.advertisementForms(in: $0) }.filter { $0.kind == name.kind }
        guard !forms.isEmpty else { return events }
        _ = try await campaigns?.campaignIndex(of: store)
        let creative = CreativeID(kind: name.kind, id: name.id)
        let item = try await store.read { try $0.item(kind: name.kind, id: name.id) }
        if let item, !forms.contains(ItemType(kind: item.kind, variant: item.variant)) { return events }
        let info = item.map { CreativeInfo($0) } ?? CreativeInfo(form: name.kind)
        return assigned(
            events.map { event in
                var event = event
                event.creative = info
                return event
            }, to: creative, at: now)
    }

    /// Returns an invocation that the client is allowed to undo now.
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

    /// Returns the commands of an invocation with their undo records.
    ///
    /// - Throws: ``ActionError/notUndoable(command:)`` if a command cannot be undone or is not registered any more.
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
