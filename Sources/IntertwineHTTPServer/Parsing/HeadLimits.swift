/// How much a request head may hold. Counted on bytes received.
package struct HeadLimits: Hashable {
    /// Bytes from the method to the version.
    package var requestLine = 8 * 1024
    /// Bytes of all field lines, their ends included.
    package var fieldBlock = 16 * 1024
    package var fields = 100
    /// Bytes of a method; longer ones are not read on.
    let method = 64
    /// Empty lines before the request line (RFC 9112, 2.2).
    let leadingLines = 2

    package init() {}

    init(requestLine: Int = 8 * 1024, fieldBlock: Int, fields: Int) {
        self.requestLine = requestLine
        self.fieldBlock = fieldBlock
        self.fields = fields
    }
}
