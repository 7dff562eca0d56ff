/// The path and query of a request, taken apart but not decoded: `%2F` is no separator.
struct Target {
    let path: [Substring]
    let query: Substring

    init(_ text: String) {
        let end = text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? text.endIndex
        path = text[..<end].dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        query = end == text.endIndex ? "" : text[text.utf8.index(after: end)...]
    }
}
