/// The head of the answer that ended a fetch's chain of redirects.
public struct FetchHead: Sendable {
    public let status: Int
    public let headers: FetchHeaders
    /// Where the answer came from, after redirects.
    public let url: FetchURL

    /// The declared length in bytes; nil where there is none, or one that is no number.
    public var contentLength: Int? {
        headers["content-length"].flatMap { Int($0) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}
