/// What a slot runs, as configuration says it: names of commands, and what to do when one fails.
public struct SlotCommands: Sendable, Hashable, ExpressibleByArrayLiteral {
    public var commands: [String]
    public var policy: FailurePolicy

    public init(_ commands: [String], policy: FailurePolicy = .stop) {
        self.commands = commands
        self.policy = policy
    }

    public init(arrayLiteral elements: String...) {
        self.init(elements)
    }
}
