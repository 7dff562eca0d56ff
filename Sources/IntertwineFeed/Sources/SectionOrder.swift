/// The order of a section's items.
public struct SectionOrder: Sendable, Hashable {
    /// The order of first import: new items at the end.
    public static let imported = SectionOrder()
    /// The last imported first.
    public static let newest = SectionOrder(isDescending: true)

    /// Nil for the order of positions.
    public var field: SortField?
    /// From the greatest to the least; items that are alike in the field then stand from the last to the first position.
    public var isDescending: Bool

    public init(by field: SortField? = nil, isDescending: Bool = false) {
        self.field = field
        self.isDescending = isDescending
    }

    /// The same in words, for cursors.
    var text: String {
        let way = isDescending ? "-" : "+"
        return field.map { "\(way)\($0.comparison.rawValue) \($0.name)" } ?? way
    }
}
