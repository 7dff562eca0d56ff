/// What one part of a cell is filled with.
public struct Binding: Sendable, Hashable {
    public enum Value: Sendable, Hashable {
        case text(String)
        /// The href of a picture.
        case image(String)
        /// A value of a type that a configured kind brings, such as `date`.
        case custom(type: String, ActionValue)
    }

    /// The part's name, such as `avatar`.
    public var part: String
    public var value: Value

    public init(_ part: String, _ value: Value) {
        self.part = part
        self.value = value
    }
}
