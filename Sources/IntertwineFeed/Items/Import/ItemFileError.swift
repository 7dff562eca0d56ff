package enum ItemFileError: Error, Sendable, Hashable, CustomStringConvertible {
    case notAList(line: Int, column: Int)
    case brokenGzip(String)
    /// The decompressed file exceeds the limit, in bytes.
    case tooLong(limit: Int)

    package var description: String {
        switch self {
        case .notAList(let line, let column):
            "line \(line), column \(column): a JSON array, or lines with a JSON object each, are expected, in UTF-8 (gzip is decompressed)"
        case .brokenGzip(let reason): "the file is not valid gzip: \(reason)"
        case .tooLong(let limit): "the file has more than \(limit) bytes, decompressed"
        }
    }
}
