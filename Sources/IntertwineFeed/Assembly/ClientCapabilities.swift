internal import IntertwinePrimitives

/// The cells that a client supports, as declared in the `Accept-Cells` header.
/// The header is a list (RFC 9651) of cell identifiers, each with the newest supported version (`;v=2`) or rejected (`;q=0`).
package struct ClientCapabilities: Sendable, Hashable {
    package static let limit = 500

    private let versions: [String: Int]
    private let knowsOthers: Bool

    package init(_ text: String) throws(FeedError) {
        var versions: [String: Int] = [:]
        var knowsOthers = false
        for member in try Self.members(text) {
            let version = member.isRefused ? 0 : member.version
            if member.name == "*", !member.isText { knowsOthers = version > 0 } else { versions[member.name] = version }
        }
        guard versions.count <= Self.limit else { throw .capabilities("more than \(Self.limit) identifiers") }
        (self.versions, self.knowsOthers) = (versions, knowsOthers)
    }

    package func knows(_ cell: CellIdentifier) -> Bool {
        guard let newest = versions[cell.name] else { return knowsOthers }
        return newest >= cell.version
    }

    func refuses(_ cell: CellIdentifier) -> Bool { versions[cell.name] == 0 }

    package var text: String {
        let named = versions.sorted { $0.key < $1.key }.map { name, version in
            let isPlain = Self.isToken(name) && name != "*"
            let quoted = "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
            let shown = isPlain ? name : quoted
            return version == 0 ? "\(shown);q=0" : version == 1 ? shown : "\(shown);v=\(version)"
        }
        return (named + [knowsOthers ? "*" : "*;q=0"]).joined(separator: ", ")
    }

    package var digest: String { Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)).prefix(12))) }
}

/// A parser for the subset of structured fields (RFC 9651) that `Accept-Cells` uses.
extension ClientCapabilities {
    private struct Member {
        var name: String
        var isText: Bool
        var version = 1
        var isRefused = false
    }

    private static func members(_ text: String) throws(FeedError) -> [Member] {
        var rest = Substring(text.utf8.map { Character(UnicodeScalar($0)) })
        var members: [Member] = []
        skipBlanks(&rest)
        while !rest.isEmpty {
            guard members.count <= limit else { throw .capabilities("more than \(limit) identifiers") }
            members.append(try member(&rest))
            skipBlanks(&rest)
            guard !rest.isEmpty else { break }
            guard rest.removeFirst() == "," else { throw .capabilities("a comma is missing") }
            skipBlanks(&rest)
            guard !rest.isEmpty else { throw .capabilities("nothing follows the last comma") }
        }
        return members
    }

    private static func member(_ rest: inout Substring) throws(FeedError) -> Member {
        let isText = rest.first == "\""
        let name = try bareItem(&rest)
        guard isText || isToken(name) else { throw .capabilities("'\(name.prefix(64))' is not an identifier") }
        var member = Member(name: name, isText: isText)
        while rest.first == ";" {
            rest.removeFirst()
            while rest.first == " " { rest.removeFirst() }
            let key = String(rest.prefix { $0.isLowercase && $0.isASCII || $0.isNumber || "_-.*".contains($0) })
            guard let first = key.first, first.isLowercase || first == "*" else { throw .capabilities("a parameter has no name") }
            rest.removeFirst(key.count)
            var value = "?1"
            if rest.first == "=" {
                rest.removeFirst()
                value = try bareItem(&rest)
            }
            switch key {
            case "v":
                guard let version = Int(value), (1...999).contains(version) else {
                    throw .capabilities("v is a whole number from 1 to 999")
                }
                member.version = version
            case "q":
                guard let quality = Double(value), (0...1).contains(quality) else { throw .capabilities("q is a number from 0 to 1") }
                member.isRefused = quality == 0
            default: break
            }
        }
        return member
    }

    private static func bareItem(_ rest: inout Substring) throws(FeedError) -> String {
        guard rest.first == "\"" else {
            let isToken = { (character: Character) in
                character.isASCII && (character.isLetter || character.isNumber || ":/!#$%&'*+-.^_`|~?".contains(character))
            }
            let item = String(rest.prefix(while: isToken))
            guard !item.isEmpty else { throw .capabilities("an identifier is missing") }
            rest.removeFirst(item.count)
            return item
        }
        rest.removeFirst()
        var item = ""
        while let character = rest.popFirst() {
            switch character {
            case "\"": return item
            case "\\":
                guard let escaped = rest.popFirst(), escaped == "\"" || escaped == "\\" else { throw .capabilities("an invalid escape") }
                item.append(escaped)
            case _ where character.isASCII && (character.asciiValue ?? 0) >= 0x20 && character != "\u{7F}": item.append(character)
            default: throw .capabilities("a character that is not ASCII")
            }
        }
        throw .capabilities("a string is not terminated")
    }

    private static func skipBlanks(_ rest: inout Substring) {
        while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
    }

    private static func isToken(_ text: String) -> Bool {
        guard let first = text.first, first.isASCII, first.isLetter || first == "*" else { return false }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ":/!#$%&'*+-.^_`|~".contains($0)) }
    }
}

extension UnsupportedCells {
    package init?(_ capabilities: ClientCapabilities, among all: Set<CellIdentifier>) {
        let labels = capabilities.refuses(.disclosure) ? [CellIdentifier.disclosure] : []
        self.init(all.filter { !capabilities.knows($0) }.union(labels))
    }
}
