/// Numbers as items have them: any JSON number that a client can take, in one spelling for equal ones.
enum NumberText {
    /// The spelling that is stored; nil where the number is too large for a double.
    ///
    /// - Parameter text: a JSON number (RFC 8259 §6).
    static func canonical(_ text: ArraySlice<UInt8>) -> (text: String, value: Double)? {
        let text = String(decoding: text, as: UTF8.self)
        if let whole = Int64(text) { return (String(whole), Double(whole)) }
        guard let value = Double(text), value.isFinite else { return nil }
        // As JavaScript spells them, and as a whole number that is written without an exponent is kept.
        if value.magnitude < 1e21, let whole = Int128(exactly: value) { return (String(whole), value) }
        return (value.description, value)
    }
}
