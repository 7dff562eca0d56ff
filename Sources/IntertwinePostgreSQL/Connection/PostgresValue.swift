/// A value of a statement's parameter. It is sent in PostgreSQL's binary form, and says its own type.
package enum PostgresValue: Sendable, Hashable {
    /// `bigint`
    case integer(Int64?)
    /// `double precision`
    case number(Double?)
    /// `boolean`
    case flag(Bool)
    /// `text`, see ``PostgresText``.
    case text(String?)
    /// `text` of bytes that are known to be UTF-8 without a NUL, such as JSON.
    case utf8([UInt8])
    /// `bytea`
    case bytes([UInt8]?)
    /// `bigint[]`
    case integers([Int64?])
    /// `text[]`, see ``PostgresText``.
    case texts([String?])
    /// `bytea[]`
    case blobs([[UInt8]?])

    /// The type's number in `pg_type`; they are the same in every database.
    var type: UInt32 {
        switch self {
        case .integer: 20
        case .number: 701
        case .flag: 16
        case .text, .utf8: 25
        case .bytes: 17
        case .integers: 1_016
        case .texts: 1_009
        case .blobs: 1_001
        }
    }

    /// The binary form; nil for NULL.
    var encoded: [UInt8]? {
        switch self {
        case .integer(let value): value.map { Self.bigEndian(UInt64(bitPattern: $0)) }
        case .number(let value): value.map { Self.bigEndian($0.bitPattern) }
        case .flag(let value): [value ? 1 : 0]
        case .text(let value): value.map(PostgresText.encoded)
        case .utf8(let bytes): bytes
        case .bytes(let bytes): bytes
        case .integers(let values): Self.array(of: 20, values.map { $0.map { Self.bigEndian(UInt64(bitPattern: $0)) } })
        case .texts(let values): Self.array(of: 25, values.map { $0.map(PostgresText.encoded) })
        case .blobs(let values): Self.array(of: 17, values)
        }
    }

    static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// One dimension: how many there are, whether any is NULL, the type, length and first index, then each with its length before it.
    private static func array(of type: UInt32, _ elements: [[UInt8]?]) -> [UInt8] {
        guard !elements.isEmpty else { return bigEndian(Int32(0)) + bigEndian(Int32(0)) + bigEndian(type) }
        var bytes = bigEndian(Int32(1)) + bigEndian(Int32(elements.contains { $0 == nil } ? 1 : 0)) + bigEndian(type)
        bytes += bigEndian(Int32(clamping: elements.count)) + bigEndian(Int32(1))
        for element in elements { append(element, to: &bytes) }
        return bytes
    }

    /// Length and bytes, as arrays and COPY have them.
    static func append(_ element: [UInt8]?, to bytes: inout [UInt8]) {
        bytes += bigEndian(element.map { Int32(clamping: $0.count) } ?? -1)
        if let element { bytes += element }
    }
}

/// Texts as PostgreSQL can keep them: it has no NUL.
///
/// NUL is written as U+0001 U+0001, and U+0001 as U+0001 U+0002. Whatever holds neither stays as it is, and all texts keep their order by
/// code points and are equal only where they were.
package enum PostgresText {
    static func encoded(_ text: String) -> [UInt8] {
        var text = text
        return text.withUTF8 { utf8 in
            guard utf8.contains(where: { $0 <= 1 }) else { return Array(utf8) }
            return utf8.flatMap { $0 <= 1 ? [1, $0 + 1] : [$0] }
        }
    }

    static func decoded(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        guard bytes.contains(1) else { return Array(bytes) }
        var (text, isEscaped): ([UInt8], Bool) = ([], false)
        for byte in bytes {
            if isEscaped {
                text.append(byte == 1 ? 0 : 1)
            } else if byte != 1 {
                text.append(byte)
            }
            isEscaped = !isEscaped && byte == 1
        }
        return text
    }
}
