/// For handlers that look at heads where they lie.
extension RequestHead {
    /// Calls `body` with each field, in their order: its name in lower case, and what reads its value, without the blanks around it.
    public func forEachField(_ body: (_ name: String, _ value: () -> String) -> Void) {
        for field in parser.fields {
            let name = bytes[Int(field.name.lowerBound)..<Int(field.name.upperBound)].lazy.map(\.lowercased)
            body(String(decoding: name, as: UTF8.self)) { parser.value(field, in: bytes).string }
        }
    }

    /// The one segment of the path behind a prefix. Nil where there is more to the target than that: another segment, a query, an escape.
    public func segment(behind prefix: StaticString) -> String? {
        let length = prefix.utf8CodeUnitCount
        guard target.count > length, target.part(0..<length).isEqual(prefix) else { return nil }
        let segment = target.part(length..<target.count)
        let isPlain = segment.bytes.allSatisfy { $0 != .slash && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "%") }
        return isPlain ? segment.string : nil
    }

    /// Whether a field of this name, in lower case, is there.
    public func hasField(_ name: [UInt8]) -> Bool {
        for field in parser.fields {
            let own = ByteView(bytes, Int(field.name.lowerBound)..<Int(field.name.upperBound))
            if own.count == name.count, zip(own.bytes, name).allSatisfy({ $0.lowercased == $1 }) { return true }
        }
        return false
    }

    /// What ``targetHash`` is for these bytes.
    public static func hash(ofTarget target: [UInt8]) -> UInt64 {
        target.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}
