// article: CellOfYourOwn
import IntertwineService

/// `{"kind":"note","id":"1","text":"Buy leeks","type":"plain"}`
struct NoteKind: ItemKind {
    let name = "note"
    let stream = StreamID.content

    func validate(_ fields: ItemFields) throws(ItemError) -> ValidatedItem {
        let id = String(decoding: try fields.text("id", limit: 100), as: UTF8.self)
        var body = ItemBody()
        body.append("text", try fields.text("text", limit: 1_000))
        return ValidatedItem(kind: name, stream: stream, id: id, variant: try fields.choice("type", among: ["plain"]), body: body.finish())
    }
}

/// Shows a note.
struct NoteCellFactory: CellViewModelFactory {
    let identifier = "NoteCollectionViewCell"
    let commands: CellCommands

    func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let text = String(decoding: try ItemFields(item.body).text("text", limit: 1_000), as: UTF8.self)
        return CellViewModel(
            identifier: identifier, size: CellSize(width: 300, height: 80),
            commands: commands.filled(by: BindCommand([CellBinding("text", text)])),
            subject: CommandSubject(cell: cell, item: item, context: context))
    }
}

let notes = ServiceExtensions(kinds: [NoteKind()]) { factories, registry in
    let commands = try CellCommands(kind: "note", slots: [.selection: ["analytics"]], registry: registry, offers: .viewer)
    try factories.register(NoteCellFactory(commands: commands), for: ItemType(kind: "note", variant: "plain"), prefix: "note")
}
// article: end
