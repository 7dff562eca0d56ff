/// Numbers as items have them: any JSON number that a client can take, in one spelling for equal ones.
enum NumberText {
    /// The spelling that is stored; nil where the number is too large for a double.
    ///
    /// - Parameter text: a JSON number (RFC 8259 §6).
    static func canonical(_ text: ArraySlice<UInt8>) -> (text: String, value: Double)? {
        let text = String(decoding: text, as: UTF8.self)
        if let whole = Int64(text) { return (String(whole), Double(whole)) }
        guard let value = Double(text), value.isFinite else { return nil }
        // Beyond 2^53 a double names several whole numbers, and its own spelling says so.
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return (String(whole), value) }
        return (value.description, value)
    }
}
