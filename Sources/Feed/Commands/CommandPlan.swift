/// The commands of one kind of cell, found and checked once when the service starts, and shared by all its cells.
public struct CommandPlan: Sendable {
    private let commands: [CommandKey: any Command]

    /// - Parameters:
    ///   - kind: of item, for messages.
    ///   - offers: what cells of this kind, and requests in this configuration, can bring a command.
    public init(
        kind: String, slots: [CommandKey: SlotCommands], registry: CommandRegistry, offers: CommandNeeds
    ) throws(CommandPlanError) {
        var commands: [CommandKey: any Command] = [:]
        for (slot, configured) in slots.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where !configured.commands.isEmpty {
            guard slot != .configuration else { throw .fixedSlot(slot, kind: kind) }
            var found: [any Command] = []
            for name in configured.commands {
                guard let command = registry[name] else {
                    throw .unknownCommand(name, kind: kind, slot: slot, known: registry.names)
                }
                let unmet = command.needs.subtracting(offers)
                guard unmet.isEmpty else { throw .unmetNeeds(name, needs: unmet, kind: kind, slot: slot) }
                found.append(command)
            }
            let face = RequestCommand(name: "perform-\(slot.rawValue)", target: .slot(slot))
            commands[slot] = MacroCommand(name: slot.rawValue, found, policy: configured.policy, face: face)
        }
        self.commands = commands
    }

    /// The commands of one cell: those of its kind, and the one that fills it.
    public func commands(configuration: any Command) -> [CommandKey: any Command] {
        var commands = commands
        commands[.configuration] = configuration
        return commands
    }
}
