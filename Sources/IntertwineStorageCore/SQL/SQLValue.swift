internal import IntertwineFeed

package enum SQLValue: Sendable, Hashable {
    case integer(Int64?)
    case number(Double?)
    case flag(Bool)
    case text(String?)
    case utf8([UInt8])
    case bytes([UInt8]?)
    case integers([Int64?])
    case texts([String?])
    case flags([Bool])
    case blobs([[UInt8]?])

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
