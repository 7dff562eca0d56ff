extension ActionPerformer {
    /// Takes a selection back: its commands in reverse, once, within the time for it. The item may be gone by then.
    ///
    /// - Returns: what became of each command, in the order in which they were taken back.
    /// - Throws: ``ActionError``, ``StoreError``. Nothing is committed then.
    package func undo(selection id: String, for client: ClientFingerprint, now: Int64) async throws -> [StepResult] {
        try await undoSerially(selection: id, for: client, now: now, idempotency: nil).steps
    }

    /// What taking a selection back under an idempotency key came to.
    package enum UndoOutcome: Sendable {
        /// What became of each command, in the order in which they were taken back.
        case undone([StepResult])
        /// The key was used before, for the same request: the answer that it got.
        case replayed(response: [UInt8])
    }

    /// The same where the client sent an idempotency key: who repeats the request gets its answer.
    ///
    /// - Parameter answer: makes the bytes that are kept under the key.
    /// - Throws: ``ActionError``, ``StoreError``. Nothing is committed then, and the key is not used up.
    package func undo(
        selection id: String, for client: ClientFingerprint, now: Int64, idempotency: IdempotencyKey,
        response: @escaping @Sendable ([StepResult]) -> [UInt8]
    ) async throws -> UndoOutcome {
        try await gate.run(Self.mutexName(of: idempotency)) {
            if let receipt = try await ledger.replay(of: idempotency), let kept = try Self.storedResponse(of: receipt) {
                return .replayed(response: kept)
            }
            let (steps, kept) = try await undoSerially(selection: id, for: client, now: now, idempotency: (idempotency, response))
            return kept.map { .replayed(response: $0) } ?? .undone(steps)
        }
    }

    /// What taking a selection back would run. Refuses what undoing would refuse; runs and writes nothing.
    ///
    /// - Throws: as ``undo(selection:for:now:)`` does.
    package func simulateUndo(selection id: String, for client: ClientFingerprint, now: Int64) async throws -> [StepResult] {
        try await undoable(id, for: client, now: now).steps.reversed().map { command, _ in
            StepResult(command: command.name, outcome: .simulated)
        }
    }

    private typealias Idempotency = (key: IdempotencyKey, answer: @Sendable ([StepResult]) -> [UInt8])

    private func undoSerially(
        selection id: String, for client: ClientFingerprint, now: Int64, idempotency: Idempotency?
    ) async throws -> (steps: [StepResult], kept: [UInt8]?) {
        try await gate.run("undo\u{0}\(id)") { try await undoAlone(selection: id, for: client, now: now, idempotency: idempotency) }
    }

    private func undoAlone(
        selection id: String, for client: ClientFingerprint, now: Int64, idempotency: Idempotency?
    ) async throws -> (steps: [StepResult], kept: [UInt8]?) {
        let (record, steps) = try await undoable(id, for: client, now: now)
        var context = CommandContext(cell: record.cell, subject: nil, occurrence: .undo, client: client, now: now)
        context.record(.undo)
        for (command, bytes) in steps.reversed() {
            do {
                try await command.undo(bytes, in: &context)
            } catch CommandError.missing(.viewer, let name) {
                throw ActionError.viewerRequired(command: name)
            } catch {
                throw ActionError.undoFailed(command: command.name, reason: String(describing: error))
            }
            context.recordUndone(command)
        }
        context.revertSelection(id)
        let done = context.steps
        let receipt = try await ledger.commit(
            LedgerEntry(
                events: context.events, changes: context.changes, undoes: id,
                idempotency: idempotency.map { idempotency in (key: idempotency.key, answer: { _ in idempotency.answer(done) }) }))
        return (done, try Self.storedResponse(of: receipt))
    }

    /// A selection that the client may take back now.
    private func undoable(
        _ id: String, for client: ClientFingerprint, now: Int64
    ) async throws -> (record: CommandRecord, steps: [(any UndoableCommand, [UInt8])]) {
        guard let record = try await ledger.selection(id: id), Self.isOwner(client, of: record) else {
            throw ActionError.unknownSelection(id)
        }
        let steps = try undoableSteps(of: record)
        guard record.undoneAt == nil else { throw ActionError.alreadyUndone }
        // One that ends later than what is performed now was made by a clock that was ahead.
        let (end, isEndless) = now.addingReportingOverflow(max(0, undoWindow))
        let (latest, isLater) = end.addingReportingOverflow(CellTokens.skew)
        guard now <= record.expires, isEndless || isLater || record.expires <= latest else { throw ActionError.undoExpired }
        return (record, steps)
    }

    private static func isOwner(_ client: ClientFingerprint, of record: CommandRecord) -> Bool {
        guard let owner = record.viewer else { return true }
        return client.viewer.map { ByteString($0) == ByteString(owner) } ?? false
    }

    /// - Throws: ``ActionError/notUndoable(command:)`` where one cannot be taken back, or is registered no more.
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
