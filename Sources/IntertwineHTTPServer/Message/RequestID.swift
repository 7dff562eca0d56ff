internal import IntertwinePrimitives

/// It is the client's `X-Request-ID` if that has 1 to 128 token characters (RFC 9110 section 5.6.2). Otherwise the server creates a UUID
/// (RFC 9562).
package struct RequestID: Sendable, Hashable {
    package static let limit = 128

    private enum Format: Hashable {
        case generated(UInt64, UInt64)
        case supplied(String)
    }

    private let form: Format

    init(_ name: Source, in bytes: UnsafeBufferPointer<UInt8>) {
        switch name {
        case .generated(let high, let low): form = .generated(high, low)
        case .supplied(let range): form = .supplied(ByteView(bytes, range).string)
        }
    }

    package var text: String {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    var urn: String { "urn:intertwine:request:" + PercentCoding.encode(text) }

    package func append(to bytes: inout [UInt8]) {
        switch form {
        case .generated(let high, let low): Self.append(high, low, to: &bytes)
        case .supplied(let text): bytes += text.utf8
        }
    }

    static func append(_ high: UInt64, _ low: UInt64, to bytes: inout [UInt8]) {
        let high = high & ~0xF000 | 0x4000
        let low = low & ~(0b11 << 62) | 0b10 << 62
        func append(_ part: UInt64, _ digits: Int) { bytes.append(hexadecimal: part, digits: digits) }
        append(high >> 32, 8)
        bytes.append(UInt8(ascii: "-"))
        append(high >> 16, 4)
        bytes.append(UInt8(ascii: "-"))
        append(high, 4)
        bytes.append(UInt8(ascii: "-"))
        append(low >> 48, 4)
        bytes.append(UInt8(ascii: "-"))
        append(low, 12)
    }
}

extension RequestID {
    /// It needs no heap memory, because every request has one.
    enum Source {
        case generated(UInt64, UInt64)
        case supplied(Range<Int>)
    }
}
