/// Where a value stands in a JSON document (RFC 6901): `/data/items`, `/users/0/name`; empty for the whole document.
public struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    /// The names and indices on the way, unescaped.
    let tokens: [String]
    public let description: String

    /// Nil for a text that is neither empty nor begins with `/`, and for a `~` that is not `~0` or `~1`.
    public init?(_ text: String) {
        description = text
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.hasPrefix("/") else { return nil }
        var tokens: [String] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            let pieces = part.split(separator: "~", omittingEmptySubsequences: false)
            guard pieces.dropFirst().allSatisfy({ $0.hasPrefix("0") || $0.hasPrefix("1") }) else { return nil }
            // In this order: "~01" is "~1", not "/".
            tokens.append(String(part.replacing("~1", with: "/").replacing("~0", with: "~")))
        }
        self.tokens = tokens
    }

    /// One member of an object, whatever its name.
    public init(member name: String) {
        tokens = [name]
        description = "/" + name.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    public var isWholeDocument: Bool { tokens.isEmpty }

    /// What it points to in an object; nil where there is nothing.
    ///
    /// - Throws: ``ItemFault`` where a name on the way occurs twice: which one was meant cannot be known.
    func value(in object: JSONObject) throws(ItemFault) -> JSONToken? {
        guard let first = tokens.first else { return JSONToken(.object, object.range) }
        guard var found = try Self.member(first, of: object) else { return nil }
        for token in tokens.dropFirst() {
            let next: JSONToken?
            switch found.kind {
            case .object:
                // What was read once reads again.
                guard let inner = try? JSONObject(object.bytes, at: found.range.lowerBound) else { return nil }
                next = try Self.member(token, of: inner)
            case .array: next = Self.element(token, of: found, in: object.bytes.span)
            default: return nil
            }
            guard let next else { return nil }
            found = next
        }
        return found
    }

    private static func member(_ name: String, of object: JSONObject) throws(ItemFault) -> JSONToken? {
        var found: JSONToken?
        for member in object.members where object.matches(member.name, name) {
            guard found == nil else { throw ItemFault(reason: "\(ItemFault.shown(name)) occurs twice") }
            found = member.value
        }
        return found
    }

    private static func element(_ token: String, of array: JSONToken, in bytes: Span<UInt8>) -> JSONToken? {
        var scanner = JSONScanner(at: array.range.lowerBound + 1)
        var index = 0
        while true {
            scanner.skipWhitespace(bytes)
            guard scanner.position < array.range.upperBound, bytes[scanner.position] != UInt8(ascii: "]"),
                let value = try? scanner.value(bytes)
            else { return nil }
            if token == String(index) { return value }
            index += 1
            scanner.skipWhitespace(bytes)
            guard scanner.position < array.range.upperBound, bytes[scanner.position] == UInt8(ascii: ",") else { return nil }
            scanner.position += 1
        }
    }
}
