/// A person's preferred languages from `Accept-Language` (RFC 9110, 12.5.4): language ranges (RFC 4647), the most preferred first.
package struct LanguagePreferences: Sendable, Hashable {
    private struct Range: Sendable, Hashable {
        var subtags: [Substring]
        var quality: Int
    }

    private static let limit = 16
    private static let longest = 1_024

    private let ranges: [Range]

    package init(_ field: String) {
        var ranges: [Range] = []
        let bytes = Array(field.utf8.prefix(Self.longest))
        bytes.span.forEachWeightedMember(limit: .max) { name, weight in
            let subtags = Self.subtags(String(decoding: name))
            if let weight, subtags == ["*"] || subtags.allSatisfy(Self.isSubtag) { ranges.append(Range(subtags: subtags, quality: weight)) }
            return ranges.count < Self.limit
        }
        // Among ranges of equal quality, the first is preferred.
        self.ranges = ranges.enumerated().sorted { ($1.element.quality, $0.offset) < ($0.element.quality, $1.offset) }.map(\.element)
    }

    /// Returns the index of the best language among those available, by lookup (RFC 4647, 3.4).
    package func lookup(among languages: [String]) -> Int? {
        let tags = languages.map(Self.subtags)
        let refused = ranges.filter { $0.quality == 0 }.map(\.subtags)
        for range in ranges where range.quality > 0 && range.subtags != ["*"] {
            var wanted = range.subtags
            while !wanted.isEmpty {
                if let index = tags.firstIndex(of: wanted), !refused.contains(wanted) { return index }
                wanted.removeLast()
                // A single letter or digit introduces another subtag and is not left at the end.
                if wanted.last?.utf8.count == 1 { wanted.removeLast() }
            }
        }
        guard ranges.contains(where: { $0.quality > 0 && $0.subtags == ["*"] }) else { return nil }
        return tags.firstIndex { !refused.contains($0) }
    }

    /// The language ranges, in lower case, that match a preferred language by basic filtering (RFC 4647, 3.3.1).
    package var rangesAround: [String] {
        var found: [String] = []
        for range in ranges where range.quality > 0 {
            for count in stride(from: range.subtags.count, to: 0, by: -1) {
                found.append(range.subtags.prefix(count).joined(separator: "-"))
            }
        }
        return found.isEmpty || found.contains("*") ? found : found + ["*"]
    }

    /// Returns true if a text has the form of a language tag (RFC 5646, 2.1): subtags of letters and digits, the first of letters only.
    package static func isTag(_ text: String) -> Bool {
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
