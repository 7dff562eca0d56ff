/// The input of a slot, as the ledger keeps it with the events of the performance.
public struct EventInput: Sendable, Hashable {
    /// A value of a field that declares its choices.
    public struct Choice: Sendable, Hashable {
        public var field: String
        public var value: String

        public init(_ field: String, _ value: String) {
            self.field = field
            self.value = value
        }
    }

    /// Bytes of the values, as JSON, that one performance may have.
    package static let limit = 8_192

    /// The values as one JSON object, in the order of their declarations.
    public let json: String
    /// What reports count. An event that is read from the ledger has none: its choices were counted as it was committed.
    public let choices: [Choice]

    public init(json: String, choices: [Choice] = []) {
        self.json = json
        self.choices = choices
    }
}
