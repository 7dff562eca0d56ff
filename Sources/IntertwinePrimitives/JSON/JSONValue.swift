/// A JSON value whose object members keep their order.
///
/// ```swift
/// let card = JSONValue.object([
///     JSONValue.Member("title", .text("Swing")),
///     JSONValue.Member("sizes", .list([.integer(1), .integer(2)])),
/// ])  // {"title":"Swing","sizes":[1,2]}
/// ```
public indirect enum JSONValue: Sendable, Hashable {
    /// A string.
    case text(String)
    /// A whole number.
    case integer(Int64)
    /// A number. JSON output contains null if the number is not finite.
    case number(Double)
    /// A Boolean.
    case flag(Bool)
    /// The literal `null`.
    case null
    /// An array.
    case list([JSONValue])
    /// An object with its members in the order of the JSON output.
    case object([Member])

    /// A member of an object.
    public struct Member: Sendable, Hashable {
        /// The name of the member, without quotes and escapes.
        public var name: String
        /// The value of the member.
        public var value: JSONValue

        /// Creates a member with a name and a value.
        ///
        /// ```swift
        /// let type = JSONValue.Member("type", .text("text"))
        /// let value = JSONValue.object([type])  // {"type":"text"}
        /// ```
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
}
