/// What a field of a declared kind holds.
public enum FieldType: String, Sendable, Hashable, CaseIterable {
    case text, number
    /// A date, or a date with its time and offset (RFC 3339), as text.
    case date
    /// An absolute http or https URL that people are led to.
    case url
    /// The same of a picture, which clients get through the image proxy.
    case image
    case boolean
}
