/// Shows an image advertisement, which links to its stored clickthrough URL.
public struct AdvertisementCellFactory: CellViewModelFactory {
    public let identifier: String
    private let size: SizeRule
    private let plan: CommandPlan

    /// - Parameter plan: what the cell's slots do, besides configuration.
    public init(plan: CommandPlan, layout: CellLayout = .collection) {
        self.plan = plan
        switch layout {
        case .collection:
            identifier = "AdvertisementCollectionViewCell"
            size = SizeRule(CellSize(width: 220, height: 220), fraction: 0.6, aspectRatio: 1, minimum: 110, maximum: 440)
        case .table:
            identifier = "AdvertisementTableViewCell"
            size = .row(height: 220)
        }
    }

    public func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let advertisement = try Advertisement(item: item)
        let content = context.links.image(advertisement.contentURL, now: context.now)
        let subject = CommandSubject(cell: cell, item: item, destination: advertisement.clickthroughURL, context: context)
        return CellViewModel(
            identifier: identifier, size: size.size(width: context.width),
            commands: plan.commands(configuration: BindCommand([Binding("content", .image(content))])), subject: subject)
    }
}
