/// Reads what ``ByteWriter`` wrote. Nil where the bytes end too early.
struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    mutating func byte() -> UInt8? {
        rest.popFirst()
    }

    mutating func number() -> Int64? {
        guard rest.count >= 8 else { return nil }
        defer { rest = rest.dropFirst(8) }
        return Int64(bitPattern: rest.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }

    /// The outer nil is the end of the bytes, the inner one a text that is not there.
    mutating func text() -> String?? {
        guard let length = number() else { return nil }
        if length == -1 { return .some(nil) }
        guard length >= 0, length <= rest.count else { return nil }
        defer { rest = rest.dropFirst(Int(length)) }
        return String(validating: rest.prefix(Int(length)), as: UTF8.self).map { .some($0) }
    }
}
