/// Runs several commands in order.
public struct MacroCommand: Command {
    /// One of its commands, with what is asked about it whenever it runs.
    struct Step: Sendable {
        let command: any Command
        let brief: (any BriefCommand)?
        let undoable: (any UndoableCommand)?

        init(_ command: any Command) {
            self.command = command
            brief = command as? any BriefCommand
            undoable = command as? any UndoableCommand
        }
    }

    public let name: String
    public let needs: CommandNeeds
    public let commands: [any Command]
    public let policy: FailurePolicy
    /// What the client is told where none of the commands has a face for it.
    private let face: (any Command)?
    private let steps: [Step]
    /// Whether it can be performed with ``performBriefly(in:)``.
    let isBrief: Bool

    public init(name: String = "macro", _ commands: [any Command], policy: FailurePolicy = .stop, face: (any Command)? = nil) {
        self.name = name
        self.commands = commands
        self.policy = policy
        self.face = face
        needs = commands.reduce([]) { $0.union($1.needs) }
        steps = commands.map(Step.init)
        // Compensating is undoing, and that may take its time.
        isBrief = policy != .compensate && steps.allSatisfy { $0.brief != nil }
    }

    /// The first of its commands that has a face for the client speaks for all.
    public func action(for subject: CommandSubject) -> Action? {
        for command in commands {
            if let action = command.action(for: subject) { return action }
        }
        return face?.action(for: subject)
    }

    /// Every step is noted in ``CommandContext/steps``, whatever became of it.
    ///
    /// - Throws: ``CommandError/macroFailed(step:)`` where a command failed and the policy is not to continue.
    public func perform(in context: inout CommandContext) async throws {
        let start = context.steps.count
        for (index, step) in steps.enumerated() {
            do {
                try await context.run(step)
            } catch {
                guard policy != .continue else { continue }
                skip(behind: index, in: &context)
                if policy == .compensate { await context.compensate(from: start) }
                throw CommandError.macroFailed(step: step.command.name)
            }
        }
    }

    /// The same without suspending, where ``isBrief``.
    func performBriefly(in context: inout CommandContext) throws {
        for (index, step) in steps.enumerated() {
            do {
                try context.runBriefly(step)
            } catch {
                guard policy != .continue else { continue }
                skip(behind: index, in: &context)
                throw CommandError.macroFailed(step: step.command.name)
            }
        }
    }

    private func skip(behind index: Int, in context: inout CommandContext) {
        for rest in commands[(index + 1)...] { context.skip(rest) }
    }

    /// All commands in the order in which they would run, those of inner macros included.
    var flattened: [any Command] {
        commands.flatMap { ($0 as? MacroCommand)?.flattened ?? [$0] }
    }
}
