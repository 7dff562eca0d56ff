/// The behaviour of a macro after one of its commands fails.
public enum FailurePolicy: String, Sendable, Hashable, CaseIterable {
    /// Skips the remaining commands and keeps the effects of the performed commands.
    case stop
    /// Continues with the remaining commands.
    case `continue`
    /// Skips the remaining commands and undoes the performed commands in reverse order, as far as they can be undone.
    case compensate
}

/// A composite that runs several commands in order. Configuration creates it from the commands that it names for a slot.
///
/// ```swift
/// let macro = MacroCommand(Analytics(), Save(), Dismiss(), policy: .compensate)
/// ```
public struct MacroCommand: Command {
    /// The name of the composite in error messages. The ledger contains the names of the components.
    public let name: String
    /// The requirements of all components.
    public let needs: CommandRequirements
    /// The input fields: the own fields, then those of the components, without duplicate names.
    public let input: [FieldDeclaration]
    /// The components, in the order of execution.
    public let commands: [any Command]
    /// The behaviour after a component fails.
    public let policy: FailurePolicy
    package let clientCommand: (any Command)?

    /// The components, in the order of execution.
    public var components: [any Command]? { commands }

    /// Creates a composite of an array of commands.
    ///
    /// ```swift
    /// let macro = MacroCommand(name: "keep", [Analytics(), Save()], policy: .compensate)
    /// let needsViewer = macro.needs.contains(.viewer)  // true
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the composite.
    ///   - commands: The components, in the order of execution.
    ///   - policy: The behaviour after a component fails.
    ///   - input: The fields in addition to the fields of the components. They replace component fields of an equal name.
    ///   - clientCommand: The command that provides the client action if no component does.
    public init(
        name: String = "macro", _ commands: [any Command], policy: FailurePolicy = .stop, input: [FieldDeclaration] = [],
        clientCommand: (any Command)? = nil
    ) {
        self.name = name
        self.commands = commands
        self.policy = policy
        self.clientCommand = clientCommand
        needs = commands.reduce([]) { $0.union($1.needs) }
        let own = Set(input.map(\.name))
        self.input = input + Self.input(of: commands).filter { !own.contains($0.name) }
    }

    /// Creates a composite of commands.
    ///
    /// - Parameters:
    ///   - commands: The components, in the order of execution.
    ///   - name: The name in error messages. The ledger has the names of the components.
    ///   - policy: The behaviour after a component fails.
    public init(_ commands: any Command..., name: String = "macro", policy: FailurePolicy = .stop) {
        self.init(name: name, commands, policy: policy)
    }

    /// Returns the first client action of the components, or else the action of `face`.
    public func action(for subject: CommandSubject) -> Action? {
        for command in commands {
            if let action = command.action(for: subject) { return action }
        }
        return clientCommand?.action(for: subject)
    }

    /// Performs the components in order.
    ///
    /// - Throws: The ``Refusal`` of a command, or an error if a command fails and the policy is not ``FailurePolicy/continue``.
    public func perform(in context: inout CommandContext) async throws {
        let start = context.steps.count
        for (index, command) in commands.enumerated() {
            do {
                try await context.perform(command)
            } catch {
                let refusal = error as? Refusal
                guard policy != .continue || refusal != nil else { continue }
                for rest in commands[(index + 1)...] { context.skip(rest) }
                if policy == .compensate { await context.compensate(from: start) }
                throw refusal ?? CommandError.macroFailed(step: command.name)
            }
        }
    }
}
