extension CommandContext {
    /// Runs one command of a macro and notes what became of it. A macro notes its own commands.
    ///
    /// - Throws: what the command throws, after it was noted; the context is then as before the command, but for the note.
    mutating func run(_ command: any Command) async throws {
        if let macro = command as? MacroCommand {
            try await macro.perform(in: &self)
            return
        }
        var attempt = self
        attempt.kept = nil
        do {
            try await command.perform(in: &attempt)
        } catch {
            steps.append(StepResult(command: command.name, outcome: .failed, error: error))
            throw error
        }
        var step = StepResult(command: command.name, outcome: .performed)
        if let undoable = command as? any UndoableCommand {
            step.undo = attempt.kept ?? []
            step.undoable = undoable
        }
        attempt.kept = nil
        attempt.steps.append(step)
        self = attempt
    }

    /// Notes commands that an earlier failure kept from running.
    mutating func skip(_ command: any Command) {
        if let macro = command as? MacroCommand {
            for command in macro.commands { skip(command) }
        } else {
            steps.append(StepResult(command: command.name, outcome: .skipped))
        }
    }

    /// Takes back, in reverse, the steps that were performed since a point. One that cannot be taken back stays performed.
    mutating func compensate(from start: Int) async {
        for index in steps.indices.reversed() where index >= start && steps[index].outcome == .performed {
            guard let undoable = steps[index].undoable, let record = steps[index].undo else { continue }
            var attempt = self
            do {
                try await undoable.undo(record, in: &attempt)
                attempt.steps[index].outcome = .undone
                attempt.steps[index].undo = nil
                self = attempt
            } catch {
                steps[index].error = error
            }
        }
    }
}
