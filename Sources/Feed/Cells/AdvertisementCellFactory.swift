/// Shows an image advertisement, which links to its stored clickthrough URL.
public struct AdvertisementCellFactory: CellViewModelFactory {
    public let identifier = "AdvertisementCollectionViewCell"
    private let size = CellSize(width: 220, height: 220)
    private let plan: CommandPlan

    /// - Parameter plan: what the cell's slots do, besides configuration.
    public init(plan: CommandPlan) {
        self.plan = plan
    }

    public func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let advertisement = try Advertisement(item: item)
        let content = context.links.image(advertisement.contentURL, now: context.now)
        let subject = CommandSubject(cell: cell, item: item, destination: advertisement.clickthroughURL, context: context)
        return CellViewModel(
            identifier: identifier, size: size,
            commands: plan.commands(configuration: BindCommand([Binding("content", .image(content))])), subject: subject)
    }
}
