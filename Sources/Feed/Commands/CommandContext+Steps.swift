extension CommandContext {
    /// Runs one command of a macro and notes what became of it. A macro notes its own commands.
    ///
    /// - Throws: what the command throws, after it was noted; the context is then as before the command, but for the note.
    mutating func run(_ step: MacroCommand.Step) async throws {
        if let macro = step.command as? MacroCommand {
            try await macro.perform(in: &self)
            return
        }
        var attempt = attempt()
        do {
            try await step.command.perform(in: &attempt)
        } catch {
            note(error, of: step)
            throw error
        }
        accept(attempt, of: step)
    }

    /// The same without suspending, for brief commands; for others it does nothing.
    mutating func runBriefly(_ step: MacroCommand.Step) throws {
        guard let brief = step.brief else { return }
        var attempt = attempt()
        do {
            try brief.perform(in: &attempt)
        } catch {
            note(error, of: step)
            throw error
        }
        accept(attempt, of: step)
    }

    private func attempt() -> CommandContext {
        var attempt = self
        attempt.kept = nil
        return attempt
    }

    private mutating func note(_ error: any Error, of step: MacroCommand.Step) {
        steps.append(StepResult(command: step.command.name, outcome: .failed, error: error))
    }

    private mutating func accept(_ attempt: CommandContext, of step: MacroCommand.Step) {
        var result = StepResult(command: step.command.name, outcome: .performed)
        if let undoable = step.undoable {
            result.undo = attempt.kept ?? []
            result.undoable = undoable
        }
        self = attempt
        kept = nil
        steps.append(result)
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
