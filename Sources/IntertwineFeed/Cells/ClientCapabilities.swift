internal import Crypto
internal import IntertwinePrimitives

/// A cell by the reuse identifier under which clients register it, and the version of what it binds.
public struct CellIdentifier: Sendable, Hashable {
    public var name: String
    public var version: Int

    public init(_ name: String, version: Int = 1) {
        self.name = name
        self.version = version
    }
}

/// Which cells a client can show, as `Accept-Cells` says it: a list of identifiers (RFC 9651), each with the newest version that it knows
/// (`;v=2`) or refused (`;q=0`), and `*` for all others.
package struct ClientCapabilities: Sendable, Hashable {
    /// Identifiers that a client can name.
    package static let limit = 500

    /// The newest version of each that is known; 0 for those that are refused.
    private let versions: [String: Int]
    /// Whether cells that are not named are known.
    private let knowsOthers: Bool
    package let types: SupportedCellTypes

    /// - Throws: ``FeedError/capabilities(_:)`` where the text is no such list.
    package init(_ text: String) throws(FeedError) {
        var versions: [String: Int] = [:]
        var knowsOthers = false
        var types = SupportedCellTypes()
        for member in try Self.members(text) {
            if let list = member.list {
                switch member.listName {
                case "bindings": types.bindings = list
                case "actions": types.actions = list
                default: throw .capabilities("a list is followed by ;bindings or ;actions")
                }
                continue
            }
            let version = member.isRefused ? 0 : member.version
            if member.name == "*", !member.isText { knowsOthers = version > 0 } else { versions[member.name] = version }
        }
        guard versions.count <= Self.limit else { throw .capabilities("more than \(Self.limit) identifiers") }
        (self.versions, self.knowsOthers, self.types) = (versions, knowsOthers, types)
    }

    package func knows(_ cell: CellIdentifier) -> Bool {
        guard let newest = versions[cell.name] else { return knowsOthers }
        return newest >= cell.version
    }

    /// The same in one spelling for all that mean the same.
    package var text: String {
        let named = versions.sorted { $0.key < $1.key }.map { name, version in
            let isPlain = Self.isToken(name) && name != "*"
            let quoted = "\"" + name.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
            let shown = isPlain ? name : quoted
            return version == 0 ? "\(shown);q=0" : version == 1 ? shown : "\(shown);v=\(version)"
        }
        return (named + [knowsOthers ? "*" : "*;q=0"] + types.lists).joined(separator: ", ")
    }

    /// What stands for it in URLs: base64url of 12 bytes of a SHA-256 of ``text``.
    package var digest: String { Base64URL.encode(Array(SHA256.hash(data: Array(text.utf8)).prefix(12))) }
}

/// Reading structured fields (RFC 9651), as far as this list goes.
extension ClientCapabilities {
    private struct Member {
        var name: String
        /// Whether it is written in quotes.
        var isText: Bool
        var version = 1
        var isRefused = false
        /// Of a list of types in brackets, with the name of the parameter behind it.
        var list: Set<String>?
        var listName: String?
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
            guard !rest.isEmpty else { throw .capabilities("nothing stands behind the last comma") }
        }
        return members
    }

    private static func member(_ rest: inout Substring) throws(FeedError) -> Member {
        let isText = rest.first == "\""
        var member: Member
        if rest.first == "(" {
            member = Member(name: "", isText: false, list: try innerList(&rest))
        } else {
            let name = try bareItem(&rest)
            guard isText || isToken(name) else { throw .capabilities("'\(name.prefix(64))' is no identifier") }
            member = Member(name: name, isText: isText)
        }
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
            case _ where member.list != nil: if value == "?1" { member.listName = member.listName ?? key }
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

    /// The names between brackets.
    private static func innerList(_ rest: inout Substring) throws(FeedError) -> Set<String> {
        rest.removeFirst()
        var names: Set<String> = []
        while true {
            while rest.first == " " { rest.removeFirst() }
            guard let next = rest.first else { throw .capabilities("a list without its end") }
            if next == ")" {
                rest.removeFirst()
                return names
            }
            let isText = next == "\""
            let name = try bareItem(&rest)
            guard isText || isToken(name) else { throw .capabilities("'\(name.prefix(64))' is no type") }
            guard rest.first == " " || rest.first == ")" else { throw .capabilities("a blank is missing between two types") }
            names.insert(name)
            guard names.count <= SupportedCellTypes.limit else { throw .capabilities("more than \(SupportedCellTypes.limit) types") }
        }
    }

    /// A text, a token, a number or a truth value, as its characters.
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
                guard let escaped = rest.popFirst(), escaped == "\"" || escaped == "\\" else { throw .capabilities("a wrong escape") }
                item.append(escaped)
            case _ where character.isASCII && (character.asciiValue ?? 0) >= 0x20 && character != "\u{7F}": item.append(character)
            default: throw .capabilities("a character that is not ASCII")
            }
        }
        throw .capabilities("a text without its end")
    }

    private static func skipBlanks(_ rest: inout Substring) {
        while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
    }

    private static func isToken(_ text: String) -> Bool {
        guard let first = text.first, first.isASCII, first.isLetter || first == "*" else { return false }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || ":/!#$%&'*+-.^_`|~".contains($0)) }
    }
}

/// The cells of the service that a client does not know: what of its capabilities matters here. Two clients that lack the same share pages
/// and finished cells.
package struct UnsupportedCells: Sendable, Hashable {
    private let cells: Set<CellIdentifier>
    let types: SupportedCellTypes
    /// Tells it from others; never 0.
    package let digest: UInt64

    /// Nil where the client knows all of them, and whatever they have.
    package init?(_ capabilities: ClientCapabilities, among all: Set<CellIdentifier>) {
        cells = all.filter { !capabilities.knows($0) }
        types = capabilities.types
        guard !cells.isEmpty || !types.knowsAll else { return nil }
        let text = (cells.map { "\($0.version) \($0.name)" }.sorted() + types.lists).joined(separator: "\n")
        digest = SHA256.hash(data: Array(text.utf8)).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) } | 1
    }

    func contains(_ cell: CellIdentifier) -> Bool { cells.contains(cell) }
}
