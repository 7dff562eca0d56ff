internal import IntertwineStorageCore

/// PostgreSQL's binary format of values.
extension SQLValue {
    var type: UInt32 {
        switch self {
        case .integer: 20
        case .number: 701
        case .flag: 16
        case .text, .utf8: 25
        case .bytes: 17
        case .integers: 1_016
        case .texts: 1_009
        case .flags: 1_000
        case .blobs: 1_001
        }
    }

    func write(to bytes: inout [UInt8]) -> Bool {
        switch self {
        case .integer(nil), .number(nil), .text(nil), .bytes(nil): return false
        case .integer(let value?): Self.append(value, to: &bytes)
        case .number(let value?): Self.append(value.bitPattern, to: &bytes)
        case .flag(let value): bytes.append(value ? 1 : 0)
        case .text(let value?): PostgresText.append(value, to: &bytes)
        case .utf8(let value), .bytes(let value?): bytes.append(contentsOf: value)
        case .integers(let values): Self.append(values, of: 20, to: &bytes) { Self.append($0, to: &$1) }
        case .flags(let values): Self.append(values, of: 16, to: &bytes) { $1.append($0 ? 1 : 0) }
        case .texts(let values): Self.append(values, of: 25, to: &bytes) { PostgresText.append($0, to: &$1) }
        case .blobs(let values): Self.append(values, of: 17, to: &bytes) { $1.append(contentsOf: $0) }
        }
        return true
    }

    static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    static func append<Number: FixedWidthInteger>(_ number: Number, to bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
    }

    private static func append<Element>(
        _ elements: [Element?], of type: UInt32, to bytes: inout [UInt8], _ write: (Element, inout [UInt8]) -> Void
    ) {
        append(Int32(elements.isEmpty ? 0 : 1), to: &bytes)
        append(Int32(elements.contains { $0 == nil } ? 1 : 0), to: &bytes)
        append(type, to: &bytes)
        guard !elements.isEmpty else { return }
        append(Int32(clamping: elements.count), to: &bytes)
        append(Int32(1), to: &bytes)
        for element in elements {
            append(Int32(-1), to: &bytes)
            guard let element else { continue }
            let start = bytes.count
            write(element, &bytes)
            putLength(before: start, in: &bytes)
        }
    }

    private static func putLength(before start: Int, in bytes: inout [UInt8]) {
        let length = UInt32(clamping: bytes.count - start)
        for index in 0..<4 { bytes[start - 4 + index] = UInt8(truncatingIfNeeded: length >> UInt32(24 - 8 * index)) }
    }
}

/// The encoding of texts for PostgreSQL, which cannot store NUL.
enum PostgresText {
    static func append(_ text: String, to bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { utf8 in
            if utf8.contains(where: { $0 <= 1 }) {
                for byte in utf8 { if byte <= 1 { bytes += [1, byte + 1] } else { bytes.append(byte) } }
            } else {
                bytes.append(contentsOf: utf8)
            }
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
