/// The attributes of a viewer, sent by the proxy that authenticates requests: `plan=free, country=DE`, a dictionary of strings (RFC 9651).
/// Invalid members and members beyond the limits are ignored, and mark the attributes as incomplete. Why: The cost of a hostile header must
/// be bounded.
package struct ViewerAttributes: Sendable, Hashable {
    private static let limit = 32
    private static let longest = 2_048

    let pairs: [String]
    let isCut: Bool

    package init(_ field: String, claims: [String] = []) {
        var pairs = claims.prefix(Self.limit + 1).compactMap { Self.pair($0[...]) }
        var isCut = field.utf8.count > Self.longest || pairs.count < claims.count
        // A comma between quotes is part of a value.
        var isQuoted = false
        let members = String(decoding: field.utf8.prefix(Self.longest), as: UTF8.self).split { character in
            if character == "\"" { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
        for member in members where pairs.count <= Self.limit && !Self.trimmed(member).isEmpty {
            if let pair = Self.pair(member) { pairs.append(pair) } else { isCut = true }
        }
        self.isCut = isCut || pairs.count > Self.limit
        self.pairs = Array(pairs.prefix(Self.limit))
    }

    var values: [String: [String]] {
        pairs.reduce(into: [:]) { values, pair in
            let name = pair.prefix { $0 != "=" }
            values[String(name), default: []].append(String(pair.dropFirst(name.count + 1)))
        }
    }

    static func pair(_ text: Substring) -> String? {
        let text = trimmed(text)
        let name = text.prefix { $0 != "=" }
        guard isName(name) else { return nil }
        guard name.endIndex < text.endIndex else { return "\(name)=true" }
        var value = text[text.index(after: name.endIndex)...]
        if value.utf8.count >= 2, value.first == "\"", value.last == "\"" { value = value.dropFirst().dropLast() }
        guard (1...128).contains(value.unicodeScalars.count),
            value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "\"") })
        else {
            return nil
        }
        return "\(name)=\(value)"
    }

    package static func isName(_ text: Substring) -> Bool {
        guard (1...64).contains(text.utf8.count), let first = text.utf8.first else { return false }
        return (0x61...0x7A).contains(first) && text.utf8.allSatisfy(isOfName)
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || "_-.*".utf8.contains(byte)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop { $0 == " " || $0 == "\t" }
        return start.prefix(start.count - start.reversed().prefix { $0 == " " || $0 == "\t" }.count)
    }
}
