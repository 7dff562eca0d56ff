/// The cell that a command acts on.
public struct CommandSubject: Sendable {
    /// The cell's id.
    public var cell: String
    public var item: FeedItem
    /// The screen that the cell opens, where its kind has one.
    public var presentation: Presentation?
    /// The stored URL that the cell leads to, where its kind has one.
    public var destination: String?
    public var context: CellContext

    public init(cell: String, item: FeedItem, presentation: Presentation? = nil, destination: String? = nil, context: CellContext) {
        self.cell = cell
        self.item = item
        self.presentation = presentation
        self.destination = destination
        self.context = context
    }
}
