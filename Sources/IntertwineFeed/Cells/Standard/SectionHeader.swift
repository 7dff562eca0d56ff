/// The header of a section. Factories treat it as an item, but no store contains it; the assembler creates it at the start of a section.
package struct SectionHeader: Sendable, Hashable {
    /// The kind of the header's item, and the prefix of its cell id.
    package static let kind = "section"
    /// The maximum length of a title, in bytes.
    package static let titleLimit = 4_096

    /// The name of the section.
    package var name: String
    package var title: String

    package init(name: String, title: String) {
        self.name = name
        self.title = title
    }

    /// Reads a header from its item.
    ///
    /// - Throws: `ItemError` if the item is not a section header.
    package init(item: FeedItem) throws(ItemError) {
        self.init(name: item.id, title: String(decoding: try ItemFields(item.body).text("title", limit: Self.titleLimit), as: UTF8.self))
    }

    package var item: FeedItem {
        var body = ItemBody()
        body.append("title", Array(title.utf8)[...])
        return FeedItem(kind: Self.kind, id: name, variant: "", position: 0, body: body.finish())
    }
}

/// A factory of cells that show the title of a section above its first item. The cell has no actions other than the configuration.
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
