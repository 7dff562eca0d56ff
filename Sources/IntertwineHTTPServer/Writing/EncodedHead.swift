/// A response head as bytes, but for the date, for what is said about the connection, and for the empty line at its end.
struct EncodedHead: Sendable {
    /// Ends in CRLF.
    let bytes: [UInt8]
    /// Where the twenty-nine bytes of the date go.
    let dateOffset: Int
}
