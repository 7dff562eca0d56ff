/// The input of a slot as the ledger stores it with the events of a performance.
///
/// ```swift
/// let input = EventInput(json: #"{"reason":"spam"}"#, choices: [.init("reason", "spam")])
/// ```
package struct EventInput: Sendable, Hashable {
    /// The value of a field that declares its choices.
    package struct Choice: Sendable, Hashable {
        /// The name of the field.
        package var field: String
        /// The chosen value.
        package var value: String

        /// Creates a choice from the name of a field and its value.
        package init(_ field: String, _ value: String) {
            self.field = field
            self.value = value
        }
    }

    /// The maximum size of the values of one performance as JSON, in bytes.
    package static let limit = 8_192

    /// The values as one JSON object, in the order of their declarations.
    package let json: String
    /// The choices that reports count. It is empty for an event read from the ledger, because its choices were counted at commit.
    package let choices: [Choice]

    /// Creates an input from the JSON object of its values and the choices among them.
    package init(json: String, choices: [Choice] = []) {
        self.json = json
        self.choices = choices
    }
}
