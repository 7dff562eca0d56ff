/// What somebody wants to read, as `Accept-Language` says it (RFC 9110, 12.5.4): language ranges (RFC 4647), the most wanted first.
///
/// Ranges that are none are left out, and those beyond the sixteenth: what a client sends must cost no more than that.
public struct LanguagePreferences: Sendable, Hashable {
    private struct Range: Sendable, Hashable {
        /// Subtags in lower case; `["*"]` for any language.
        var subtags: [Substring]
        /// In thousandths; 0 where the language is not wanted.
        var quality: Int
    }

    private static let limit = 16
    /// Bytes of a field that are looked at.
    private static let longest = 1_024

    private let ranges: [Range]

    /// - Parameter field: the field's value; of a field that stands there more than once, all values with commas in between.
    public init(_ field: String) {
        var ranges: [Range] = []
        let bytes = Array(field.utf8.prefix(Self.longest))
        bytes.span.forEachWeightedMember(limit: .max) { name, weight in
            let subtags = Self.subtags(String(decoding: name))
            if let weight, subtags == ["*"] || subtags.allSatisfy(Self.isSubtag) { ranges.append(Range(subtags: subtags, quality: weight)) }
            return ranges.count < Self.limit
        }
        // Of those that are wanted alike, the first is meant first.
        self.ranges = ranges.enumerated().sorted { ($1.element.quality, $0.offset) < ($0.element.quality, $1.offset) }.map(\.element)
    }

    /// The index of the language to be given, among those that there are: looked up (RFC 4647, 3.4), each range in turn, from its end
    /// shortened until it is one of them. Nil where none is wanted: it is for whoever asks to have a default.
    public func lookup(among languages: [String]) -> Int? {
        let tags = languages.map(Self.subtags)
        let refused = ranges.filter { $0.quality == 0 }.map(\.subtags)
        for range in ranges where range.quality > 0 && range.subtags != ["*"] {
            var wanted = range.subtags
            while !wanted.isEmpty {
                if let index = tags.firstIndex(of: wanted), !refused.contains(wanted) { return index }
                wanted.removeLast()
                // A single letter or digit begins something, and is not left at the end.
                if wanted.last?.utf8.count == 1 { wanted.removeLast() }
            }
        }
        guard ranges.contains(where: { $0.quality > 0 && $0.subtags == ["*"] }) else { return nil }
        return tags.firstIndex { !refused.contains($0) }
    }

    /// The language ranges, in lower case, that take in a language that is wanted, by basic filtering (RFC 4647, 3.3.1): of `de-CH` that
    /// itself, `de` and `*`.
    public var rangesAround: [String] {
        var found: [String] = []
        for range in ranges where range.quality > 0 {
            for count in stride(from: range.subtags.count, to: 0, by: -1) {
                found.append(range.subtags.prefix(count).joined(separator: "-"))
            }
        }
        return found.isEmpty || found.contains("*") ? found : found + ["*"]
    }

    /// Whether a text is a language tag as far as its form goes (RFC 5646, 2.1): subtags of letters and digits, the first of letters alone.
    public static func isTag(_ text: String) -> Bool {
        let subtags = Self.subtags(text)
        guard let first = subtags.first, (2...8).contains(first.utf8.count), first.utf8.allSatisfy(isLetter) else { return false }
        return text.utf8.count <= 35 && subtags.allSatisfy(isSubtag)
    }

    private static func subtags(_ tag: String) -> [Substring] {
        tag.lowercased().split(separator: "-", omittingEmptySubsequences: false)
    }

    private static func isSubtag(_ subtag: Substring) -> Bool {
        (1...8).contains(subtag.utf8.count) && subtag.utf8.allSatisfy { isLetter($0) || (0x30...0x39).contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
}
