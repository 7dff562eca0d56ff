/// Why bytes are not one JSON text (RFC 8259), and where.
public struct JSONFault: Error, Sendable, Hashable, CustomStringConvertible {
    public enum Reason: String, Sendable, Hashable {
        case endOfText = "ends too early"
        case expectedValue = "a value is expected"
        case expectedObject = "an object is expected"
        case expectedArray = "an array is expected"
        case expectedName = "a name in double quotes is expected"
        case expectedColon = "a colon is expected"
        case expectedCommaOrEnd = "a comma or the end of the object or array is expected"
        case trailingComma = "a comma stands before the end: take it out"
        case commaAfterLine = "a comma follows the item: lines have none between them, unless the file is an array with [ and ]"
        case trailingBytes = "something follows the value"
        case badNumber = "not a number"
        case badLiteral = "neither true, false nor null"
        case badEscape = "an escape that JSON does not have"
        case loneSurrogate = "half of a surrogate pair"
        case controlCharacter = "a control character in a string"
        case badUTF8 = "not UTF-8"
        case tooDeep = "nested too deeply"
    }

    public var reason: Reason
    /// The index of the byte at which reading stopped.
    public var offset: Int

    public init(_ reason: Reason, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String { reason.rawValue }
}
