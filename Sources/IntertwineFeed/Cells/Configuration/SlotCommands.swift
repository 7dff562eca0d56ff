/// The commands of a slot, as values or by the names of registered commands, with failure policy and input.
///
/// ```swift
/// let slots: [CommandKey: SlotCommands] = [.selection: ["analytics", "present"], "like": SlotCommands(Like(), label: "Like")]
/// ```
public struct SlotCommands: Sendable, Hashable, ExpressibleByArrayLiteral {
    enum Reference: Sendable {
        case name(String)
        case value(any Command)
    }

    let references: [Reference]
    /// The behaviour of the slot after one of its commands fails.
    public var policy: FailurePolicy
    /// The input fields in addition to the fields of the commands.
    public var input: [FieldDeclaration]
    /// The label of the action, as people read it. If it is nil, clients use their own text.
    public var label: LocalizedText?

    /// Creates the commands of a slot from the names of registered commands.
    ///
    /// ```swift
    /// let slot = SlotCommands(["analytics", "save"], policy: .compensate, label: ["en": "Save", "de": "Merken"])
    /// let names = slot.commands  // ["analytics", "save"]
    /// ```
    ///
    /// - Parameters:
    ///   - commands: The names, in the order of execution.
    ///   - policy: The behaviour after a command fails.
    ///   - input: The input fields in addition to the fields of the commands.
    ///   - label: The label of the action, as people read it; nil if clients use their own text.
    public init(
        _ commands: [String], policy: FailurePolicy = .stop, input: [FieldDeclaration] = [], label: LocalizedText? = nil
    ) {
        self.label = label
        references = commands.map { .name($0) }
        self.policy = policy
        self.input = input
    }

    /// Creates the commands of a slot from values, which need no registration.
    ///
    /// ```swift
    /// let slot = SlotCommands(Analytics(), Save(), label: "Save")
    /// let names = slot.commands  // ["analytics", "save"]
    /// ```
    public init(_ commands: any Command..., policy: FailurePolicy = .stop, label: LocalizedText? = nil) {
        self.init(commands, policy: policy, label: label)
    }

    init(_ commands: [any Command], policy: FailurePolicy, label: LocalizedText?) {
        references = commands.map { .value($0) }
        (self.policy, self.input, self.label) = (policy, [], label)
    }

    /// Creates the commands of a slot from their names, with the policy ``FailurePolicy/stop``, without input and label.
    public init(arrayLiteral elements: String...) {
        self.init(elements)
    }

    /// The names of the commands, in order.
    public var commands: [String] {
        references.map { reference in
            switch reference {
            case .name(let name): name
            case .value(let command): command.name
            }
        }
    }

    var values: [any Command] {
        references.compactMap { if case .value(let command) = $0 { command } else { nil } }
    }

    /// Compares commands by name, because all commands of one name are equal.
    public static func == (one: SlotCommands, other: SlotCommands) -> Bool {
        one.commands == other.commands && one.policy == other.policy && one.input == other.input && one.label == other.label
    }

    /// Hashes the names of the commands, the policy, the input and the label.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(commands)
        hasher.combine(policy)
        hasher.combine(input)
        hasher.combine(label)
    }
}

/// The commands of the slots of a cell, as values.
///
/// ```swift
/// let actions: CellActions = .on(.selection, Analytics(), Present()).on("like", Like(), label: "Like")
/// ```
public struct CellActions: Sendable {
    package private(set) var slots: [CommandKey: SlotCommands] = [:]

    /// Creates actions without commands.
    public init() {}

    /// Returns the actions with the commands of a further slot, which run in order. They replace earlier commands of the slot.
    ///
    /// ```swift
    /// let selection = CellActions.on(.selection, Analytics(), Present())
    /// let actions = selection.on(.dismissal, Analytics(), Dismiss(), policy: .compensate)
    /// ```
    ///
    /// - Parameters:
    ///   - slot: A standard slot, or the name of a custom one, such as `like`.
    ///   - label: The label of the action, as people read it. If it is nil, clients use their own text.
    public func on(
        _ slot: CommandKey, _ commands: any Command..., policy: FailurePolicy = .stop, label: LocalizedText? = nil
    ) -> CellActions {
        with(slot, SlotCommands(commands, policy: policy, label: label))
    }

    /// Returns actions with the commands of one slot.
    public static func on(
        _ slot: CommandKey, _ commands: any Command..., policy: FailurePolicy = .stop, label: LocalizedText? = nil
    ) -> CellActions {
        CellActions().with(slot, SlotCommands(commands, policy: policy, label: label))
    }

    private func with(_ slot: CommandKey, _ commands: SlotCommands) -> CellActions {
        var actions = self
        actions.slots[slot] = commands
        return actions
    }
}

extension CellCommands {
    /// Creates the commands of one kind of cell. The commands are resolved and validated once at service startup and shared by all cells.
    ///
    /// ```swift
    /// let commands = try CellCommands(
    ///     kind: "note", slots: [.selection: ["analytics"], .dismissal: ["analytics", "dismiss"]], registry: .standard,
    ///     offers: .viewer)
    /// let keys = commands.keys  // [.selection, .dismissal]
    /// ```
    ///
    /// - Parameters:
    ///   - kind: the kind of the item, for error messages.
    ///   - offers: the requirements that cells of this kind, and requests in this configuration, can meet.
    ///   - reported: the slots that clients report with the token of the cell, like the impression.
    ///   - viewability: the condition for a viewable impression, which clients receive.
    public init(
        kind: String, slots: [CommandKey: SlotCommands], registry: CommandRegistry, offers: CommandRequirements,
        reported: [CommandKey] = [],
        viewability: Viewability? = nil
    ) throws(CellCommandsError) {
        self.init()
        for (slot, configured) in slots.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where !configured.references.isEmpty {
            guard slot != .configuration else { throw .fixedSlot(slot, kind: kind) }
            if let fault = slot.syntaxError { throw .unusableSlot(slot, kind: kind, reason: fault) }
            var found: [any Command] = []
            for reference in configured.references {
                let command: any Command
                switch reference {
                case .value(let value): command = value
                case .name(let name):
                    guard let known = registry[name] else {
                        throw .unknownCommand(name, kind: kind, slot: slot, known: registry.names)
                    }
                    command = known
                }
                let unmet = command.needs.subtracting(offers)
                guard unmet.isEmpty else { throw .unmetNeeds(command.name, needs: unmet, kind: kind, slot: slot) }
                found.append(command)
            }
            let input = MacroCommand(found, input: configured.input).input
            if let fault = FieldDeclaration.error(in: input) { throw .unusableInput(slot, kind: kind, reason: fault) }
            guard input.isEmpty || slot.isPerformed else {
                throw .unusableInput(slot, kind: kind, reason: "only selection, dismissal and custom slots have input")
            }
            let target: RequestCommand.Target =
                slot == .impression ? .report(slot, viewability) : reported.contains(slot) ? .report(slot, nil) : .slot(slot)
            let clientCommand = RequestCommand(name: "perform-\(slot.rawValue)", target: target, input: input)
            labels[slot] = configured.label
            self[slot] = MacroCommand(
                name: slot.rawValue, found, policy: configured.policy, input: configured.input, clientCommand: clientCommand)
        }
        self.reported = reported
        self.viewability = viewability
        setComplete()
    }

    /// Returns the commands of one cell: the commands of its kind and the command that fills it.
    ///
    /// ```swift
    /// let filled = commands.filled(by: BindCommand([CellBinding("text", "Buy leeks")]))
    /// let first = filled.keys.first  // .configuration
    /// ```
    public func filled(by configuration: any Command) -> CellCommands {
        var commands = self
        commands[.configuration] = configuration
        return commands
    }
}

/// An error in the configured commands. The service prints its description and does not start.
public enum CellCommandsError: Error, Sendable, Hashable {
    /// Two commands have one name.
    case registeredTwice(String)
    /// No registered command has the name. `known` contains the registered names, sorted.
    case unknownCommand(String, kind: String, slot: CommandKey, known: [String])
    /// The kind of cell or the viewer configuration does not meet the requirements of the command.
    case unmetNeeds(String, needs: CommandRequirements, kind: String, slot: CommandKey)
    /// The slot cannot be configured, because only the factory fills it.
    case fixedSlot(CommandKey, kind: String)
    /// The name is invalid as a slot.
    case unusableSlot(CommandKey, kind: String, reason: String)
    /// The declared input is invalid, or the slot cannot have input.
    case unusableInput(CommandKey, kind: String, reason: String)
}

extension CellCommandsError: CustomStringConvertible {
    /// The error as one line for operators.
    public var description: String {
        switch self {
        case .registeredTwice(let name):
            "two commands are named '\(name)'"
        case .unknownCommand(let name, let kind, let slot, let known):
            "unknown command '\(name)' in \(kind) \(slot.rawValue); known are \(known.joined(separator: ", "))"
        case .unmetNeeds(let name, let needs, let kind, let slot):
            "command '\(name)' in \(kind) \(slot.rawValue) needs a \(needs.names.joined(separator: " and a ")), which is missing"
        case .fixedSlot(let slot, let kind):
            "\(kind) \(slot.rawValue) cannot be configured: the cell's factory fills it"
        case .unusableSlot(let slot, let kind, let reason):
            "\(kind): '\(ItemError.shown(slot.rawValue))' cannot be a slot: it \(reason)"
        case .unusableInput(let slot, let kind, let reason):
            "the input of \(kind) \(ItemError.shown(slot.rawValue)): \(reason)"
        }
    }
}
