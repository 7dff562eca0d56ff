internal import Glibc

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
    case documents([[UInt8]])

    package var rowCount: Int? {
        switch self {
        case .integers(let values): values.count
        case .texts(let values): values.count
        case .flags(let values): values.count
        case .blobs(let values): values.count
        case .documents(let values): values.count
        case .integer, .number, .flag, .text, .utf8, .bytes: nil
        }
    }

    package static func withStored<Value>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) throws -> Value) rethrows -> Value {
        var text = text
        return try text.withUTF8 { utf8 in
            guard let start = utf8.baseAddress, memchr(start, 0, utf8.count) != nil else { return try body(utf8) }
            return try utf8.flatMap { $0 == 0 ? [0xEF, 0xBF, 0xBD] : [$0] }.withUnsafeBufferPointer(body)
        }
    }
}
