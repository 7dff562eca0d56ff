package import IntertwineFeed

/// Responses under the idempotency keys of their requests, and selections.
extension PersistentLedger {
    package func replay(of key: IdempotencyKey) async throws -> LedgerReceipt? {
        let question = SQLCommand(
            """
            SELECT fingerprint, answer, expires FROM idempotency WHERE scope IN (?1, ?2) AND key = ?3
            ORDER BY CASE WHEN scope = ?1 THEN 0 ELSE 1 END
            """, [.text(key.scope), .text(key.formerScope), .text(key.key)])
        return try await answer([question], nil as LedgerReceipt?) { receipt, _, row, now in
            guard receipt == nil, key.isValid(until: row.integer(2), now: now) else { return }
            receipt = ByteString(row.text(0)) == ByteString(key.fingerprint) ? .replayed(row.bytes(1)) : .keyReused
        }
    }

    package func selection(id: String) async throws -> CommandRecord? {
        let questions = [
            SQLCommand("SELECT cell, viewer, expires, undone_at FROM selection WHERE id = ?1", [.text(id)]),
            SQLCommand("SELECT command, undo FROM selection_step WHERE selection = ?1 ORDER BY number", [.text(id)]),
        ]
        return try await answer(questions, nil as CommandRecord?) { record, question, row, _ in
            guard question == 0 else {
                record?.steps.append(CommandRecord.Step(command: row.text(0), undo: row.optionalBytes(1)))
                return
            }
            record = CommandRecord(
                id: id, cell: row.text(0), viewer: row.optionalText(1), steps: [], expires: row.integer(2),
                undoneAt: row.optionalInteger(3))
        }
    }
}

extension IdempotencyKey {
    func isValid(until end: Int64, delay: Int64 = 0, now: Int64) -> Bool {
        // The lifetime of a response counts from its request.
        let (lifetime, isEndless) = expires.subtractingReportingOverflow(now &- delay)
        return end > now && (isEndless || end <= LedgerTime.latestValidEnd(at: now, window: max(0, lifetime)))
    }
}
