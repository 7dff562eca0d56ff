internal import IntertwinePrimitives

/// A JSON Pointer (RFC 6901), such as `/data/items` or `/users/0/name`.
package struct JSONPointer: Sendable, Hashable, CustomStringConvertible {
    let tokens: [String]
    package let description: String

    package init?(_ text: String) {
        description = text
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else { return nil }
        var tokens: [String] = []
        for part in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let token = Self.unescaped(part) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    /// Why bytes: the slash or tilde can form one character with the combining character after it.
    private static func unescaped(_ part: Substring.UTF8View) -> String? {
        let pieces = part.split(separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
        var bytes = Array(pieces.first ?? part)
        for piece in pieces.dropFirst() {
            switch piece.first {
            case UInt8(ascii: "0"): bytes.append(UInt8(ascii: "~"))
            case UInt8(ascii: "1"): bytes.append(UInt8(ascii: "/"))
            default: return nil
            }
            bytes += piece.dropFirst()
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    package init(member name: String) {
        tokens = [name]
        description = "/" + name.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    var isRoot: Bool { tokens.isEmpty }

    /// ``ItemError`` if a name of the path occurs twice, because the intended value is unknown.
    func value(in object: JSONObject) throws(ItemError) -> JSONToken? {
        guard let first = tokens.first else { return JSONToken(.object, object.range) }
        guard var found = try Self.member(first, of: object) else { return nil }
        for token in tokens.dropFirst() {
            let next: JSONToken?
            switch found.kind {
            case .object:
                guard let inner = try? JSONObject(object.bytes, at: found.range.lowerBound, isLenient: true) else { return nil }
                next = try Self.member(token, of: inner)
            case .array: next = Self.element(token, of: found, in: object.bytes.span)
            default: return nil
            }
            guard let next else { return nil }
            found = next
        }
        return found
    }

    private static func member(_ name: String, of object: JSONObject) throws(ItemError) -> JSONToken? {
        var found: JSONToken?
        for member in object.members where object.matches(member.name, name) {
            guard found == nil else { throw ItemError(reason: "\(ItemError.shown(name)) occurs twice") }
            found = member.value
        }
        return found
    }

    private static func element(_ token: String, of array: JSONToken, in bytes: Span<UInt8>) -> JSONToken? {
        var scanner = JSONScanner(at: array.range.lowerBound + 1, isLenient: true)
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
