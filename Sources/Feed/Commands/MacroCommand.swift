/// Runs several commands in order.
public struct MacroCommand: Command {
    public let name: String
    public let needs: CommandNeeds
    public let isBrief: Bool
    public let commands: [any Command]
    public let policy: FailurePolicy
    /// What the client is told where none of the commands has a face for it.
    private let face: (any Command)?

    public init(name: String = "macro", _ commands: [any Command], policy: FailurePolicy = .stop, face: (any Command)? = nil) {
        self.name = name
        self.commands = commands
        self.policy = policy
        self.face = face
        needs = commands.reduce([]) { $0.union($1.needs) }
        isBrief = commands.allSatisfy(\.isBrief)
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
        for (index, command) in commands.enumerated() {
            do {
                try await context.run(command)
            } catch {
                guard policy != .continue else { continue }
                for rest in commands[(index + 1)...] { context.skip(rest) }
                if policy == .compensate { await context.compensate(from: start) }
                throw CommandError.macroFailed(step: command.name)
            }
        }
    }

    /// All commands in the order in which they would run, those of inner macros included.
    var flattened: [any Command] {
        commands.flatMap { ($0 as? MacroCommand)?.flattened ?? [$0] }
    }
}
