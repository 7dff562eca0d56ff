/// The values that rendering derives from the commands of a kind, once for all its cells.
final class PreparedCommands: Sendable {
    /// The prepared JSON of each slot, or nil if the command must create its action for each cell.
    let requests: [PreparedRequest?]
    /// The text that ``requests`` point into.
    let text: [UInt8]
    /// The constant JSON around the cells of the kind, or nil if it differs between cells.
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
    /// The values that rendering derives from the commands, or nil if the commands are not those of a kind.
    var prepared: PreparedCommands? { attachment { PreparedCommands($0) } }
}
