/// A field of a declared kind: its name, what it holds, and the limits that each of its values keeps.
public struct FieldDeclaration: Sendable, Hashable {
    /// Characters (Unicode scalars) that a text may have where nothing else is said.
    public static let usualTextLimit = 2_000.0
    /// Characters that no declaration can go beyond.
    public static let textLimit = 65_536.0

    public var name: String
    public var type: FieldType
    public var isRequired: Bool
    /// Of a text, the number of its characters; of a number, the number itself. Other types have no bounds of their own.
    public var minimum: Double?
    public var maximum: Double?

    public init(_ name: String, _ type: FieldType, isRequired: Bool = false, minimum: Double? = nil, maximum: Double? = nil) {
        self.name = name
        self.type = type
        self.isRequired = isRequired
        self.minimum = minimum
        self.maximum = maximum
    }
}
