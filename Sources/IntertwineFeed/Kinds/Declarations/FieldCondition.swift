/// What a field has to be for a cell to show the item.
public struct FieldCondition: Sendable, Hashable {
    public enum Test: Sendable, Hashable {
        /// One of these values, written as the field's type writes them. A missing field is none of them.
        case anyOf([String])
        /// Whether the field is there.
        case present(Bool)
        /// A number within bounds, both included.
        case between(minimum: Double?, maximum: Double?)
    }

    /// A field of the kind, or `id` or `type`.
    public var field: String
    public var test: Test

    public init(_ field: String, _ test: Test) {
        self.field = field
        self.test = test
    }
}
