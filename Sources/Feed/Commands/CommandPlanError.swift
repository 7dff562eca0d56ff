/// Why commands cannot stand where configuration wants them. Ends the start of the service with this line.
public enum CommandPlanError: Error, Sendable, Hashable {
    case registeredTwice(String)
    case unknownCommand(String, kind: String, slot: CommandKey, known: [String])
    /// The command needs what the kind of cell, or the configuration of viewers, does not bring.
    case unmetNeeds(String, needs: CommandNeeds, kind: String, slot: CommandKey)
    /// The factory alone fills this slot.
    case fixedSlot(CommandKey, kind: String)
}

extension CommandPlanError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .registeredTwice(let name):
            "two commands are called '\(name)'"
        case .unknownCommand(let name, let kind, let slot, let known):
            "unknown command '\(name)' in \(kind) \(slot.rawValue); known are \(known.joined(separator: ", "))"
        case .unmetNeeds(let name, let needs, let kind, let slot):
            "command '\(name)' in \(kind) \(slot.rawValue) needs a \(needs.names.joined(separator: " and a ")), and there is none"
        case .fixedSlot(let slot, let kind):
            "\(kind) \(slot.rawValue) cannot be configured: the cell's factory fills it"
        }
    }
}
