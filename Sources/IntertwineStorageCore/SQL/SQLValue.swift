internal import IntertwineFeed

/// A value of a statement's parameter.
///
/// A column has a value for each row of a batch: see ``SQLCommand``.
package enum SQLValue: Sendable, Hashable {
    case integer(Int64?)
    case number(Double?)
    case flag(Bool)
    case text(String?)
    /// A text of bytes that are known to be UTF-8 without NUL, such as JSON.
    case utf8([UInt8])
    case bytes([UInt8]?)
    /// A column of integers.
    case integers([Int64?])
    /// A column of texts.
    case texts([String?])
    /// A column of flags.
    case flags([Bool])
    /// A column of byte strings.
    case blobs([[UInt8]?])

    /// The number of rows of a column; nil for a single value.
    package var rowCount: Int? {
        switch self {
        case .integers(let values): values.count
        case .texts(let values): values.count
        case .flags(let values): values.count
        case .blobs(let values): values.count
        case .integer, .number, .flag, .text, .utf8, .bytes: nil
        }
    }
}
