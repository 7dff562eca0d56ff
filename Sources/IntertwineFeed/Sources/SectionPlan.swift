/// How a store is to lay out a section: which items stand in it, and by which fields it is read.
public struct SectionPlan: Sendable, Hashable {
    /// The section of everything that no other section takes. It is always there.
    public static let mainName = "main"

    public var name: String
    /// The kinds whose items stand in it; those of ``mainName`` are not listed.
    public var kinds: [String]
    /// Besides the order of the items' positions.
    public var fields: [SortField]
    /// How it is shown: operations that name places mean them in this order.
    public var order: SectionOrder

    public init(_ name: String, kinds: [String] = [], fields: [SortField] = [], order: SectionOrder = .imported) {
        self.name = name
        self.kinds = kinds
        self.fields = fields
        self.order = order
    }
}
