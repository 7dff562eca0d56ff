/// The path and query of a request, taken apart but not decoded: `%2F` is no separator. Only `%66eed` is `feed`.
struct Target {
    let path: [Substring]
    let query: Substring

    init(_ text: String) {
        // Bytes are taken for bytes: what a person reads as one character is none of HTTP's business.
        let end = text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        path = PercentEncoding.normalised(text[..<end]).utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false
        ).map { Substring($0) }
        query = end == text.endIndex ? "" : text[text.utf8.index(after: end)...]
    }
}
