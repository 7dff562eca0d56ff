/// For handlers that look up finished answers: what they compare is known at run time only.
extension RequestHead {
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
