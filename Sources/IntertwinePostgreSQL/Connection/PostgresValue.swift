internal import IntertwineStorageCore

extension SQLValue {
    var type: UInt32 {
        switch self {
        case .integer: 20
        case .number: 701
        case .flag: 16
        case .text, .utf8: 25
        case .bytes: 17
        case .integers: 1_016
        case .texts, .documents: 1_009
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
        case .text(let value?): Self.withStored(value) { bytes.append(contentsOf: $0) }
        case .utf8(let value), .bytes(let value?): bytes.append(contentsOf: value)
        case .integers(let values): Self.append(values, of: 20, to: &bytes) { Self.append($0, to: &$1) }
        case .flags(let values): Self.append(values, of: 16, to: &bytes) { $1.append($0 ? 1 : 0) }
        case .texts(let values):
            Self.append(values, of: 25, to: &bytes) { text, bytes in
                Self.withStored(text) { bytes.append(contentsOf: $0) }
            }
        case .documents(let values): Self.append(values, of: 25, to: &bytes) { $1.append(contentsOf: $0) }
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
