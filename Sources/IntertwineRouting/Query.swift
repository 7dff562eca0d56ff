internal import HTTPTypes
internal import IntertwinePrimitives

/// The parameters of a query, as `name=value` pairs. Parameters that nobody asks for are ignored.
package struct Query: Sendable {
    private let pairs: [(name: Substring, value: Substring)]

    package init(_ text: Substring) {
        pairs = text.utf8.split(separator: UInt8(ascii: "&")).map { pair in
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = Substring(pair[..<end])
            return (PercentCoding.decode(name).map { Substring($0) } ?? name, Substring(pair[end...].dropFirst()))
        }
    }

    /// The value of a parameter, or nil where it is not there.
    ///
    /// - Throws: ``Problem`` (400) where it stands there twice or is damaged.
    package func text(_ name: String) throws(Problem) -> String? {
        let found = pairs.filter { $0.name == name }
        guard let first = found.first else { return nil }
        guard found.count == 1 else { throw Self.invalid("\(name) stands in the query more than once.") }
        guard let value = PercentCoding.decode(first.value) else { throw Self.invalid("\(name) is not valid UTF-8.") }
        return value
    }

    /// - Throws: ``Problem`` (400) where the value is anything but digits, or not within the range.
    package func integer(_ name: String, in range: ClosedRange<Int>, default fallback: Int) throws(Problem) -> Int {
        try integer(name, in: range) ?? fallback
    }

    /// The same, or nil where the parameter is not there.
    package func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = try text(name) else { return nil }
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int(text), range.contains(value) else {
            throw Self.invalid("\(name) must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        }
        return value
    }

    /// - Throws: ``Problem`` (400) where the value is neither `true` nor `false`.
    package func flag(_ name: String) throws(Problem) -> Bool {
        switch try text(name) {
        case nil, "false": return false
        case "true": return true
        default: throw Self.invalid("\(name) must be true or false.")
        }
    }

    /// - Throws: ``Problem`` (400) where the value is none of the type's words.
    package func word<Word: CaseIterable & RawRepresentable<String>>(_ name: String) throws(Problem) -> Word? {
        guard let text = try text(name) else { return nil }
        return try Self.word(text, of: name)
    }

    /// The same of a text from elsewhere.
    static func word<Word: CaseIterable & RawRepresentable<String>>(_ text: String, of name: String) throws(Problem) -> Word {
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue)
            let list = words.count > 2 ? "one of \(words.joined(separator: ", "))" : words.joined(separator: " or ")
            throw invalid("\(name) must be \(list).")
        }
        return word
    }

    private static func invalid(_ detail: String) -> Problem { Problem(.badRequest, .invalidParameter, detail) }
}
