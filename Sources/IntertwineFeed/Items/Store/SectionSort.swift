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

    /// Returns the rows of a stream, from which the section is read.
    package func rows(of stream: StreamID) -> RowQuery.Rows { field.map { .sorted(stream, by: $0) } ?? .stream(stream) }

    /// The order as text, for the scope of cursors.
    package var text: String {
        let way = isDescending ? "-" : "+"
        return field.map { "\(way)\($0.comparison.rawValue) \($0.name)" } ?? way
    }
}

/// The storage of a section: the kinds of its items, and the fields that it is sorted by.
package struct SectionConfiguration: Sendable, Hashable {
    /// The name of the section for all kinds that no other section contains. This section always exists.
    package static let mainName = "main"

    /// The name of the section.
    package var name: String
    /// The kinds whose items the section contains; empty for ``mainName``.
    package var kinds: [String]
    /// The fields by which the section can be sorted, in addition to the order of positions.
    package var fields: [SortField]
    /// The display order, to which operations on positions refer.
    package var order: SectionSort

    /// Creates a section, by default without kinds and in the order of import.
    ///
    /// ```swift
    /// if let starts = SortField("starts", .date) {
    ///     let section = SectionConfiguration("events", kinds: ["event"], fields: [starts], order: SectionSort(by: starts))
    ///     print(section.name)  // events
    /// }
    /// ```
    package init(_ name: String, kinds: [String] = [], fields: [SortField] = [], order: SectionSort = .imported) {
        self.name = name
        self.kinds = kinds
        self.fields = fields
        self.order = order
    }
}
