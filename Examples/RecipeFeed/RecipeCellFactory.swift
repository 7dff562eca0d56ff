import IntertwineService

/// Shows a recipe with its image and title.
struct RecipeCellFactory: CellViewModelFactory {
    let identifier = "RecipeCollectionViewCell"
    let commands: CellCommands

    func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let fields = try ItemFields(item.body)
        let title = String(decoding: try fields.text("title", limit: 200), as: UTF8.self)
        let image = context.links.image(String(decoding: try fields.url("pictureUrl"), as: UTF8.self), now: context.now)
        return CellViewModel(
            identifier: identifier, size: CellSize(width: 300, height: 240),
            commands: commands.filled(by: BindCommand([CellBinding("title", title), CellBinding("image", .image(image))])),
            subject: CommandSubject(cell: cell, item: item, context: context))
    }
}
