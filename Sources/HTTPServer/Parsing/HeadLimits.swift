/// How much a request head may hold. Counted on bytes received.
struct HeadLimits: Hashable {
    /// Bytes from the method to the version.
    var requestLine = 8 * 1024
    /// Bytes of all field lines.
    var fieldBlock = 16 * 1024
    var fields = 100
    /// Bytes of a method; longer ones are not read on.
    let method = 64
    /// Empty lines before the request line (RFC 9112, 2.2).
    let leadingLines = 2
}
