/// The reason why a file is not a list of items. No item of the file is imported, regardless of the policy for invalid items.
package enum ItemFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file begins with something else than a list, on this line and in this column.
    case notAList(line: Int, column: Int)
    /// The file begins as gzip, and its later data is corrupt.
    case brokenGzip(String)
    /// The decompressed file exceeds the limit, in bytes.
    case tooLong(limit: Int)

    /// The reason as one line.
    package var description: String {
        switch self {
        case .notAList(let line, let column):
            "line \(line), column \(column): a JSON array, or lines with a JSON object each, are expected, in UTF-8 (gzip is decompressed)"
        case .brokenGzip(let reason): "the file is not valid gzip: \(reason)"
        case .tooLong(let limit): "the file has more than \(limit) bytes, decompressed"
        }
    }
}
