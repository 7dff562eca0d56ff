public import IntertwinePrimitives

/// A value for one part of a cell.
///
/// In JSON, a value is an object whose member `type` tells which other members it has: `{"type":"text","text":"Swing"}`.
///
/// ```swift
/// let bindings = [CellBinding("title", .text("Swing")), CellBinding("cover", .image("/images/swing.png"))]
/// ```
public struct CellBinding: Sendable, Hashable {
    /// A value of a part, with its type in JSON.
    ///
    /// ```swift
    /// let title = CellBinding.Value.text("Swing")
    /// let cover = CellBinding.Value.image("/images/swing.png")
    /// ```
    public enum Value: Sendable, Hashable {
        /// A text.
        case text(String)
        /// An image. Why indirect: the data of an image is large, and binding values are copied often.
        indirect case image(ImageBinding)
        /// A date, or a date with time and offset (RFC 3339).
        case date(String)
        /// A number.
        case number(Double)
        /// A whole number. Its type in JSON is `number`, too.
        case integer(Int64)
        /// The absolute URL that a part of the cell links to.
        case link(String)
        /// The absolute URL of the media that a part of the cell plays.
        case media(String)
        /// A value of a custom type. Its members follow `type` in JSON.
        case custom(type: String, members: [JSONValue.Member])

        /// Returns an image value with an `href` and no metadata.
        public static func image(_ href: String) -> Value { .image(ImageBinding(href)) }
    }

    /// The name of the part, such as `avatar`.
    public var part: String
    /// The value of the part.
    public var value: Value

    /// Creates a binding of a value of any type.
    public init(_ part: String, _ value: Value) {
        self.part = part
        self.value = value
    }

    /// Creates a binding of a text.
    ///
    /// ```swift
    /// let binding = CellBinding("title", "Swing")
    /// let value = binding.value  // .text("Swing")
    /// ```
    public init(_ part: String, _ text: String) {
        self.init(part, .text(text))
    }
}
