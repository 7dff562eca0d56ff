/// A factory of cell view models for one kind of item. The assembler uses factories and never concrete cells.
///
/// A new kind of cell needs one factory and one registration with ``CellFactories``:
///
/// ```swift
/// struct NoteCellFactory: CellViewModelFactory {
///     let identifier = "NoteCollectionViewCell"
///     let commands: CellCommands
///
///     func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel {
///         let text = String(decoding: try ItemFields(item.body).text("text", limit: 1_000), as: UTF8.self)
///         return CellViewModel(
///             identifier: identifier, size: CellSize(width: 300, height: 80),
///             commands: commands.filled(by: BindCommand([CellBinding("text", text)])),
///             subject: CommandSubject(cell: cell, item: item, context: context))
///     }
/// }
///
/// try factories.register(NoteCellFactory(commands: commands), for: ItemType(kind: "note", variant: "plain"), prefix: "note")
/// ```
///
/// An item can have several cells: the first cell and companions after it. They count as one item for `limit` and are always on the same
/// page. A dismissal of the first cell hides all of them; a dismissal of a companion hides only that companion.
///
/// The view models and their actions must depend only on the item and the context, and must be constant within an hour. Why: Rendered
/// cells are cached and shown to all clients with an equal context.
public protocol CellViewModelFactory: Sendable {
    /// The reuse identifier of the first cells.
    var identifier: String { get }

    /// All cells that the factory may make, including companions. Clients may support only some of them.
    var cells: [CellIdentifier] { get }

    /// The first cells that the factory may make. An item is omitted if the client supports none of them.
    var chain: [CellIdentifier] { get }

    /// The names of the companions that the factory may make, in order, such as `photos`.
    var companions: [String] { get }

    /// Makes the first cell of an item.
    ///
    /// - Parameter cell: The id of the cell.
    /// - Throws: An error if the item's body lacks data that the cell needs. The item is then omitted from the page, logged and counted.
    func makeViewModel(for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel

    /// Makes a companion of an item's first cell; nil if the item has no companion of this name.
    ///
    /// ```swift
    /// func makeCompanion(_ name: String, for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel? {
    ///     guard name == "photos" else { return nil }
    ///     return CellViewModel(
    ///         identifier: "PhotosCollectionViewCell", size: CellSize(width: 300, height: 120),
    ///         commands: commands.filled(by: BindCommand([CellBinding("title", "Photos")])),
    ///         subject: CommandSubject(cell: cell, item: item, context: context))
    /// }
    /// ```
    ///
    /// - Parameter cell: The id of the companion, such as `user:tt#photos`.
    /// - Throws: An error if the item's body lacks data that the cell needs. The whole item is then omitted from the page.
    func makeCompanion(_ name: String, for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel?
}

extension CellViewModelFactory {
    /// The default: version 1 of the cell with `identifier`.
    public var cells: [CellIdentifier] { [CellIdentifier(identifier)] }

    /// The default: `cells`, or version 1 of the cell with `identifier` if the factory has companions.
    public var chain: [CellIdentifier] { companions.isEmpty ? cells : [CellIdentifier(identifier)] }

    /// The default: no companions.
    public var companions: [String] { [] }

    /// Returns nil, because an item has no companions by default.
    public func makeCompanion(_ name: String, for item: FeedItem, cell: String, in context: CellContext) throws -> CellViewModel? { nil }
}
