/// A cell that items of a declared kind can be shown in.
public struct CellDeclaration: Sendable, Hashable {
    /// The reuse identifier under which clients register a cell class.
    public var identifier: String
    public var size: SizeRule
    /// What has to hold for this cell to be chosen: all of them. The first cell of a layout whose conditions hold shows the item.
    public var conditions: [FieldCondition]
    public var bindings: [BindingDeclaration]
    /// The name of the companion that the cell is, such as `photos`; nil for the first cell of an item. Of each companion too, the first
    /// cell whose conditions hold shows the item; where none does, the item has no such companion.
    public var companion: String?

    public init(
        _ identifier: String, size: SizeRule, conditions: [FieldCondition] = [], bindings: [BindingDeclaration], companion: String? = nil
    ) {
        self.identifier = identifier
        self.size = size
        self.conditions = conditions
        self.bindings = bindings
        self.companion = companion
    }
}
