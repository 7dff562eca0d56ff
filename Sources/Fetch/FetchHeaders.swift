/// The header fields of one answer, in the order they came; names in lower case.
public struct FetchHeaders: Sendable, Hashable {
    public private(set) var fields: [Field] = []

    public struct Field: Sendable, Hashable {
        public let name: String
        public let value: String
    }

    public init() {}

    public init(_ fields: KeyValuePairs<String, String>) {
        for field in fields {
            append(field.key, field.value)
        }
    }

    public mutating func append(_ name: String, _ value: String) {
        fields.append(Field(name: name.lowercased(), value: value))
    }

    /// All the values of a field joined as one list (RFC 9110 section 5.3); nil where there is none.
    /// - Parameter name: in lower case.
    public subscript(name: String) -> String? {
        var joined: String?
        for field in fields where field.name == name {
            joined = joined.map { $0 + ", " + field.value } ?? field.value
        }
        return joined
    }
}
