/// A JSON value whose object members keep their order.
public indirect enum JSONValue: Sendable, Hashable {
    case text(String)
    case integer(Int64)
    /// A number. JSON output contains null if the number is not finite.
    case number(Double)
    case flag(Bool)
    case null
    case list([JSONValue])
    case object([Member])

    public struct Member: Sendable, Hashable {
        public var name: String
        public var value: JSONValue

        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }
}
