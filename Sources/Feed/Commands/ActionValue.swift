/// A JSON value whose members keep their order.
public indirect enum ActionValue: Sendable, Hashable {
    case text(String)
    case integer(Int64)
    /// Written as null where it is not finite.
    case number(Double)
    case flag(Bool)
    case null
    case list([ActionValue])
    case object([Member])

    public struct Member: Sendable, Hashable {
        public var name: String
        public var value: ActionValue

        public init(_ name: String, _ value: ActionValue) {
            self.name = name
            self.value = value
        }
    }
}
