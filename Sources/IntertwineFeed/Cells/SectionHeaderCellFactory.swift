/// Shows the title of a section above its first item. Nothing can be done with it.
public struct SectionHeaderCellFactory: CellViewModelFactory {
    public let identifier: String
    private let size: SizeRule

    public init(layout: CellLayout = .collection) {
        switch layout {
        case .collection:
            identifier = "SectionHeaderCollectionReusableView"
            size = .row(height: 50)
        case .table:
            identifier = "SectionHeaderTableViewHeaderFooterView"
            size = .row(height: 28)
        }
    }

    public func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let header = try SectionHeader(item: item)
        return CellViewModel(
            identifier: identifier, size: size.size(width: context.width),
            commands: [.configuration: BindCommand([Binding("title", .text(header.title))])],
            subject: CommandSubject(cell: cell, item: item, context: context))
    }
}
