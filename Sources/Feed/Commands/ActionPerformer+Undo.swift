extension ActionPerformer {
    /// Takes a selection back: its commands in reverse, once, within the time for it. The item may be gone by then.
    ///
    /// - Returns: what became of each command, in the order in which they were taken back.
    /// - Throws: ``ActionError``, ``StoreError``. Nothing is committed then.
    public func undo(selection id: String, for client: ClientTrace, now: Int64) async throws -> [StepResult] {
        try await gate.run("undo\u{0}\(id)") { try await undoAlone(selection: id, for: client, now: now) }
    }

    private func undoAlone(selection id: String, for client: ClientTrace, now: Int64) async throws -> [StepResult] {
        guard let record = try await ledger.selection(id: id), record.viewer == nil || record.viewer == client.viewer else {
            throw ActionError.unknownSelection(id)
        }
        let steps = try undoableSteps(of: record)
        guard record.undoneAt == nil else { throw ActionError.alreadyUndone }
        guard now <= record.expires else { throw ActionError.undoExpired }

        var context = CommandContext(
            performance: RandomID.make(), cell: record.cell, subject: nil, occurrence: .undo, client: client, now: now)
        context.record(.undo)
        for (command, bytes) in steps.reversed() {
            do {
                try await command.undo(bytes, in: &context)
            } catch CommandError.missing(.viewer, let name) {
                throw ActionError.viewerRequired(command: name)
            } catch {
                throw ActionError.undoFailed(command: command.name, reason: String(describing: error))
            }
            context.steps.append(StepResult(command: command.name, outcome: .undone))
        }
        let receipt = try await ledger.commit(LedgerEntry(events: context.events, changes: context.changes, undoes: id))
        switch receipt.outcome {
        case .committed, .replayed, .keyReused: return context.steps
        case .alreadyUndone: throw ActionError.alreadyUndone
        case .expired: throw ActionError.undoExpired
        }
    }

    /// - Throws: ``ActionError/notUndoable(command:)`` where one cannot be taken back, or is registered no more.
    private func undoableSteps(of record: SelectionRecord) throws(ActionError) -> [(any UndoableCommand, [UInt8])] {
        var steps: [(any UndoableCommand, [UInt8])] = []
        for step in record.steps {
            guard let bytes = step.undo, let command = registry[step.command] as? any UndoableCommand else {
                throw .notUndoable(command: step.command)
            }
            steps.append((command, bytes))
        }
        return steps
    }
}
