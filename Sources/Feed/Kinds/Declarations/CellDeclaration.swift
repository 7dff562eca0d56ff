/// A cell that items of a declared kind can be shown in.
public struct CellDeclaration: Sendable, Hashable {
    /// The reuse identifier under which clients register a cell class.
    public var identifier: String
    public var size: SizeRule
    /// What has to hold for this cell to be chosen: all of them. The first cell of a layout whose conditions hold shows the item.
    public var conditions: [FieldCondition]
    public var bindings: [BindingDeclaration]

    public init(_ identifier: String, size: SizeRule, conditions: [FieldCondition] = [], bindings: [BindingDeclaration]) {
        self.identifier = identifier
        self.size = size
        self.conditions = conditions
        self.bindings = bindings
    }
}
