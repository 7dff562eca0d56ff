final class PreparedCommands: Sendable {
    /// The prepared JSON of each slot, or nil if the command must create its action for each cell.
    let requests: [PreparedRequest?]
    let text: [UInt8]
    let templates: CellTemplate.TemplateTable?

    init(_ commands: CellCommands) {
        var text: [UInt8] = []
        requests = commands.indices.map { index in
            let (slot, command) = commands.slot(at: index)
            return (command as? MacroCommand).flatMap { PreparedRequest(slot, $0, appendedTo: &text) }
        }
        self.text = text
        templates = requests.allSatisfy { $0 != nil } ? CellTemplate.TemplateTable() : nil
    }
}

extension CellCommands {
    var prepared: PreparedCommands? { attachment { PreparedCommands($0) } }
}
