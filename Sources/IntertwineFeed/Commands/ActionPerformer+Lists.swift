extension ActionPerformer {
    /// Performs a command on a cell because it is on one of the viewer's lists, whatever its slots hold, and whether or not its item is there.
    ///
    /// - Parameters:
    ///   - name: the command's registered name.
    ///   - idempotency: as of ``perform(_:of:for:now:body:idempotency:answer:)``.
    /// - Throws: ``ActionError``: `unknownCell` where the cell is not on the list, `viewerRequired`; ``StoreError``.
    public func perform(
        _ name: String, of cell: String, on list: ViewerList, for client: ClientTrace, now: Int64, idempotency: IdempotencyKey? = nil,
        answer: @escaping @Sendable (Performance) -> [UInt8]
    ) async throws -> Outcome {
        try await once(idempotency) {
            let command = try await command(name, for: cell, on: list, of: client)
            var context = CommandContext(cell: cell, subject: nil, occurrence: .undo, client: client, now: now)
            // What failed is noted with its step.
            try? await context.perform(command)
            return try await commit(context, idempotency: idempotency, answer: answer)
        }
    }

    /// What that would run. Refuses what performing would refuse; runs and writes nothing.
    ///
    /// - Throws: as ``perform(_:of:on:for:now:idempotency:answer:)`` does.
    public func simulate(_ name: String, of cell: String, on list: ViewerList, for client: ClientTrace) async throws -> Performance {
        Performance(simulating: try await command(name, for: cell, on: list, of: client).leaves, of: cell)
    }

    private func command(
        _ name: String, for cell: String, on list: ViewerList, of client: ClientTrace
    ) async throws -> any Command {
        guard let viewer = client.viewer else { throw ActionError.viewerRequired(command: name) }
        guard let command = registry[name], try await ledger.holds(cell, on: list, of: viewer) else {
            throw ActionError.unknownCell(cell)
        }
        return command
    }
}
