/// What a macro does when one of its commands fails.
public enum FailurePolicy: String, Sendable, Hashable, CaseIterable {
    /// Leaves the rest out, and keeps what was done.
    case stop
    /// Goes on with the rest.
    case `continue`
    /// Leaves the rest out, and takes back what was done, in reverse, as far as it can be.
    case compensate
}

/// Runs several commands in order: the composite that configuration makes of what it names for a slot.
public struct MacroCommand: Command {
    public let name: String
    public let needs: CommandRequirements
    public let input: [FieldDeclaration]
    public let commands: [any Command]
    public let policy: FailurePolicy
    /// What the client is told where none of the commands has a face for it.
    private let face: (any Command)?

    public var components: [any Command]? { commands }

    /// - Parameter input: what it takes besides what its commands take.
    public init(
        name: String = "macro", _ commands: [any Command], policy: FailurePolicy = .stop, input: [FieldDeclaration] = [],
        face: (any Command)? = nil
    ) {
        self.name = name
        self.commands = commands
        self.policy = policy
        self.face = face
        needs = commands.reduce([]) { $0.union($1.needs) }
        let own = Set(input.map(\.name))
        self.input = input + Self.input(of: commands).filter { !own.contains($0.name) }
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
                try await context.perform(command)
            } catch {
                guard policy != .continue else { continue }
                for rest in commands[(index + 1)...] { context.skip(rest) }
                if policy == .compensate { await context.compensate(from: start) }
                throw CommandError.macroFailed(step: command.name)
            }
        }
    }
}
