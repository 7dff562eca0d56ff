public import IntertwineJSON

/// A value for one part of a cell.
///
/// In JSON, a value is an object whose member `type` tells which other members it has: `{"type":"text","text":"Swing"}`.
///
/// ```swift
/// let bindings = [CellBinding("title", .text("Swing")), CellBinding("cover", .image("/images/swing.png"))]
/// ```
public struct CellBinding: Sendable, Hashable {
    public enum Value: Sendable, Hashable {
        case text(String)
        /// An image. Why indirect: the data of an image is large, and binding values are copied often.
        indirect case image(ImageBinding)
        /// A date, or a date with time and offset (RFC 3339).
        case date(String)
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
    public var value: Value

    public init(_ part: String, _ value: Value) {
        self.part = part
        self.value = value
    }

    /// Creates a binding of a text.
    public init(_ part: String, _ text: String) {
        self.init(part, .text(text))
    }
}
