/// The order of a section's items.
public struct SectionSort: Sendable, Hashable {
    /// The order of first import, with new items at the end.
    public static let imported = SectionSort()
    /// The reverse order of import, with new items first.
    public static let newest = SectionSort(isDescending: true)

    /// The field to sort by; nil for the order of positions.
    public var field: SortField?
    /// True for the order from greatest to least. Items with equal field values are then ordered from the last to the first position.
    public var isDescending: Bool

    /// Creates an order, by default that of ``imported``.
    ///
    /// ```swift
    /// let dearestFirst = SectionSort(by: SortField("price", .number), isDescending: true)
    /// let newestFirst = SectionSort(isDescending: true)
    /// ```
    public init(by field: SortField? = nil, isDescending: Bool = false) {
        self.field = field
        self.isDescending = isDescending
    }

    package func rows(of stream: StreamID) -> RowQuery.Rows { field.map { .sorted(stream, by: $0) } ?? .stream(stream) }

    package var text: String {
        let way = isDescending ? "-" : "+"
        return field.map { "\(way)\($0.comparison.rawValue) \($0.name)" } ?? way
    }
}

package struct SectionConfiguration: Sendable, Hashable {
    package static let mainName = "main"

    package var name: String
    package var kinds: [String]
    package var fields: [SortField]
    package var order: SectionSort
    /// The filters of each feed that has the section in its own order.
    package var filters: [[ItemFilter]] = []
    /// The filters, if any, of each feed that has the section's items by author, the newest first.
    package var followed: [[ItemFilter]] = []
    /// The field of each kind that names the author of its items.
    package var authors: [String: String] = [:]

    package init(_ name: String, kinds: [String] = [], fields: [SortField] = [], order: SectionSort = .imported) {
        self.name = name
        self.kinds = kinds
        self.fields = fields
        self.order = order
    }
}
