/// What whoever authenticates in front of the service says of a viewer: `plan=free, country=DE`, a dictionary (RFC 9651) of texts.
///
/// What is no attribute is left out, and what is beyond the bounds: a field that somebody sends must cost no more than that.
package struct ViewerAttributes: Sendable, Hashable {
    private static let limit = 32
    /// Bytes of a field that are looked at.
    private static let longest = 2_048

    /// As `name=value`.
    let pairs: [String]
    /// Whether there are more than the bounds take.
    let isCut: Bool

    /// - Parameter field: the field's value; of a field that stands there more than once, all values with commas in between.
    package init(_ field: String) {
        var pairs: [String] = []
        for member in String(decoding: field.utf8.prefix(Self.longest), as: UTF8.self).split(separator: ",") {
            if let pair = Self.pair(member) { pairs.append(pair) }
            if pairs.count > Self.limit { break }
        }
        isCut = pairs.count > Self.limit || field.utf8.count > Self.longest
        self.pairs = Array(pairs.prefix(Self.limit))
    }

    /// `name=value`, without blanks around and without quotes; a name alone is true.
    static func pair(_ text: Substring) -> String? {
        let text = trimmed(text)
        let name = text.prefix { $0 != "=" }
        guard (1...64).contains(name.utf8.count), let first = name.utf8.first, (0x61...0x7A).contains(first), name.utf8.allSatisfy(isOfName)
        else { return nil }
        guard name.endIndex < text.endIndex else { return "\(name)=true" }
        var value = text[text.index(after: name.endIndex)...]
        if value.utf8.count >= 2, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
        guard (1...128).contains(value.utf8.count), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") }) else {
            return nil
        }
        return "\(name)=\(value)"
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "_-.*".utf8.contains(byte)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        return start.prefix(start.count - start.reversed().prefix { $0 == " " || $0 == "\t" }.count)
    }
}
