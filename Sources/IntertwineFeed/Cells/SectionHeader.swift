/// The header of a section. It is an item like any other to the factories, and in no store: the assembler makes it where a section begins.
package struct SectionHeader: Sendable, Hashable {
    /// The kind of its item, and what its cell's id begins with.
    package static let kind = "section"
    /// Bytes.
    package static let titleLimit = 4_096

    /// The section's.
    package var name: String
    package var title: String

    package init(name: String, title: String) {
        self.name = name
        self.title = title
    }

    /// - Throws: ``ItemError`` where the item is no section's header.
    package init(item: FeedItem) throws(ItemError) {
        self.init(name: item.id, title: String(decoding: try ItemFields(item.body).text("title", limit: Self.titleLimit), as: UTF8.self))
    }

    var item: FeedItem {
        var body = ItemBody()
        body.append("title", Array(title.utf8)[...])
        return FeedItem(kind: Self.kind, id: name, variant: "", position: 0, body: body.finish())
    }
}

/// Shows the title of a section above its first item. Nothing can be done with it.
package struct SectionHeaderCellFactory: CellViewModelFactory {
    package let identifier: String
    private let size: SizeRule

    package init(layout: CellLayout = .collection) {
        switch layout {
        case .collection:
            identifier = "SectionHeaderCollectionReusableView"
            size = .row(height: 50)
        case .table:
            identifier = "SectionHeaderTableViewHeaderFooterView"
            size = .row(height: 28)
        }
    }

    package func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
        let header = try SectionHeader(item: item)
        return CellViewModel(
            identifier: identifier, size: size.size(width: context.width),
            commands: [.configuration: BindCommand([Binding("title", .text(header.title))])],
            subject: CommandSubject(cell: cell, item: item, context: context))
    }
}
