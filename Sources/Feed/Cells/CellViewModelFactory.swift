/// Turns one kind of item into cell view models. The assembler knows factories, never concrete cells.
///
/// Adding a kind of cell is one factory, and one line that registers it with ``CellFactories``.
public protocol CellViewModelFactory: Sendable {
    /// The reuse identifier of the cells it makes.
    var identifier: String { get }

    /// - Throws: where the item's body does not hold what the cell needs. The item is then left out of the page, logged and counted.
    func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel
}
