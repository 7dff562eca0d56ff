package struct SectionHeader: Sendable, Hashable {
    package static let kind = "section"
    /// The maximum length of a title, in bytes.
    package static let titleLimit = 4_096

    package var name: String
    package var title: String

    package init(name: String, title: String) {
        self.name = name
        self.title = title
    }

    package init(item: FeedItem) throws(ItemError) {
        self.init(name: item.id, title: String(decoding: try ItemFields(item.body).text("title", limit: Self.titleLimit), as: UTF8.self))
    }

    package var item: FeedItem {
        var body = ItemBody()
        body.append("title", Array(title.utf8)[...])
        return FeedItem(kind: Self.kind, id: name, variant: "", position: 0, body: body.finish())
    }
}

struct SectionHeaderCellFactory: CellViewModelFactory {
    let identifier: String
    private let size: SizeRule

    init(layout: CellLayout = .collection) {
        switch layout {
        case .collection:
            identifier = "SectionHeaderCollectionReusableView"
            size = .row(height: 50, textHeight: 24)
        case .table:
            identifier = "SectionHeaderTableViewHeaderFooterView"
            size = .row(height: 28, textHeight: 20)
        }
    }

    func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let header = try SectionHeader(item: item)
        return CellViewModel(
            identifier: identifier, size: size.size(width: context.width),
            commands: [.configuration: BindCommand([CellBinding("title", .text(header.title))])],
            subject: CommandSubject(cell: cell, item: item, context: context))
    }
}
