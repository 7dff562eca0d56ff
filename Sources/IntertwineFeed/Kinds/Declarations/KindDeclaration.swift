/// A kind of item as configuration says it. ``DeclaredKind`` is made of it, once, when the service starts.
public struct KindDeclaration: Sendable, Hashable {
    /// The `klass` of the import format.
    public var name: String
    /// What cell ids begin with; nil for the name.
    public var prefix: String?
    public var lane: Lane
    /// The required text field that is the id of an item which brings none.
    public var id: String?
    /// What the `type` field may be, in the order of messages; where it is empty, items have no type.
    public var variants: [String]
    public var fields: [FieldDeclaration]
    /// For each layout, the cells to choose from. A layout without any shows none of the kind's items.
    public var cells: [CellLayout: [CellDeclaration]]
    /// The required `url` field that holds where the cells lead to.
    public var destination: String?
    public var presentation: PresentationDeclaration?
    /// The commands of each slot, by name.
    public var actions: [CommandKey: SlotCommands]

    public init(
        name: String, prefix: String? = nil, lane: Lane = .content, id: String? = nil, variants: [String] = [],
        fields: [FieldDeclaration], cells: [CellLayout: [CellDeclaration]], destination: String? = nil,
        presentation: PresentationDeclaration? = nil, actions: [CommandKey: SlotCommands] = [:]
    ) {
        self.name = name
        self.prefix = prefix
        self.lane = lane
        self.id = id
        self.variants = variants
        self.fields = fields
        self.cells = cells
        self.destination = destination
        self.presentation = presentation
        self.actions = actions
    }
}
