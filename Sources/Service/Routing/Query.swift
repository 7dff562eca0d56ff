internal import Feed
internal import HTTPTypes

/// The parameters of a query, as `name=value` pairs. Parameters that nobody asks for are ignored.
struct Query: Sendable {
    private let pairs: [(name: Substring, value: Substring)]

    init(_ text: Substring) {
        pairs = text.split(separator: "&").map { pair in
            let end = pair.firstIndex(of: "=") ?? pair.endIndex
            return (PercentEncoding.decode(pair[..<end]).map { Substring($0) } ?? pair[..<end], pair[end...].dropFirst())
        }
    }

    /// The value of a parameter, or nil where it is not there.
    ///
    /// - Throws: ``Problem`` (400) where it stands there twice or is damaged.
    func text(_ name: String) throws(Problem) -> String? {
        let found = pairs.filter { $0.name == name }
        guard let first = found.first else { return nil }
        guard found.count == 1 else { throw Problem(.badRequest, .invalidParameter, "\(name) stands in the query more than once.") }
        guard let value = PercentEncoding.decode(first.value) else {
            throw Problem(.badRequest, .invalidParameter, "\(name) is not valid UTF-8.")
        }
        return value
    }

    /// The cursor of a page, or nil for the first.
    ///
    /// - Throws: ``Problem`` (400), one for all that no page can have given out.
    func cursor() throws(Problem) -> String? {
        let cursor: String?
        do {
            cursor = try text("cursor")
        } catch {
            throw Problem(.badRequest, .invalidCursor, error.detail)
        }
        // Pages that are kept are found by text, to which some characters beyond ASCII are the same as a letter.
        guard cursor?.utf8.allSatisfy({ $0 < 0x80 }) != false else { throw Problem(FeedError.cursor(.invalid)) }
        return cursor
    }

    /// - Throws: ``Problem`` (400) where the value is anything but digits, or not within the range.
    func integer(_ name: String, in range: ClosedRange<Int>, default fallback: Int) throws(Problem) -> Int {
        try integer(name, in: range) ?? fallback
    }

    /// The same, or nil where the parameter is not there.
    func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = try text(name) else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int(text), range.contains(value) else {
            throw Problem(.badRequest, .invalidParameter, "\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }

    /// - Throws: ``Problem`` (400) where the value is neither `true` nor `false`.
    func flag(_ name: String) throws(Problem) -> Bool {
        switch try text(name) {
        case nil, "false": return false
        case "true": return true
        default: throw Problem(.badRequest, .invalidParameter, "\(name) must be true or false.")
        }
    }
}
