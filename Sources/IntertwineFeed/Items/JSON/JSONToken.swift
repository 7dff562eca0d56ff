/// One JSON value, as the place where it stands in the bytes it was read from.
public struct JSONToken: Sendable, Hashable {
    public enum Kind: String, Sendable, Hashable {
        case object = "an object"
        case array = "an array"
        case string = "a string"
        case number = "a number"
        case boolean = "a boolean"
        case null = "null"
    }

    public var kind: Kind
    /// The bytes of the value; those of a string are the ones between its quotes.
    public var range: Range<Int>
    /// A string in which at least one character is written as an escape.
    public var isEscaped: Bool

    init(_ kind: Kind, _ range: Range<Int>, isEscaped: Bool = false) {
        self.kind = kind
        self.range = range
        self.isEscaped = isEscaped
    }
}
