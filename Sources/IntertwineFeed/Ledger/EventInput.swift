package struct EventInput: Sendable, Hashable {
    package struct Choice: Sendable, Hashable {
        package var field: String
        package var value: String

        package init(_ field: String, _ value: String) {
            self.field = field
            self.value = value
        }

        /// The mark of the values of filters, with which the name of no field of an input begins.
        package static let filterMark = "?"

        init(ofFilter name: String, _ value: String) { self.init(Self.filterMark + name, value) }
    }

    /// The maximum size of the values of one performance as JSON, in bytes.
    package static let limit = 8_192

    package let json: String
    /// It is empty for an event read from the ledger, because its choices were counted at commit.
    package let choices: [Choice]

    package init(json: String, choices: [Choice] = []) {
        self.json = json
        self.choices = choices
    }
}
