internal import Glibc
internal import IntertwinePrimitives

/// The four forms of a request target (RFC 9112, 3.2), told apart and checked.
package enum RequestTarget {
    /// A path with an optional query, and the authority where the target was absolute.
    case origin(path: ByteView, authority: ByteView?)
    /// `*`, for OPTIONS alone. Who sends it with a method that is not known is told about the method.
    case asterisk
    /// `host:port`, for CONNECT alone.
    case authority

    package init(_ target: ByteView, method: ByteView) throws(HTTPParseError) {
        if method.isEqual("CONNECT") {
            guard target.isHost, target.bytes.contains(.colon) else { throw .bad("CONNECT needs a host and a port.") }
            self = .authority
        } else if target[0] == .slash {
            try Self.check(target)
            self = .origin(path: target, authority: nil)
        } else if target.isEqual("*") {
            guard method.isEqual("OPTIONS") || RequestMethod(method) == .other else { throw .bad("The target * is for OPTIONS alone.") }
            self = .asterisk
        } else {
            guard target.count > 7, target.part(0..<7).isEqualIgnoringCase("http://") else {
                throw .bad("The request target is neither a path nor an http URL.")
            }
            let rest = target.part(7..<target.count)
            let end = rest.bytes.firstIndex { $0 == .slash || $0 == 0x3F } ?? rest.count
            let authority = rest.part(0..<end)
            guard authority.isHost else { throw .bad("The authority of the request target is malformed.") }
            let path = rest.part(end..<rest.count)
            try Self.check(path)
            self = .origin(path: path, authority: authority)
        }
    }

    /// Refuses what could mean one thing here and another thing to whoever looks at the path next: broken escapes, escaped
    /// controls, escapes that are not UTF-8, and dot segments that climb.
    private static func check(_ path: ByteView) throws(HTTPParseError) {
        var utf8 = UTF8Validator()
        var index = 0
        var dots = 0
        var isOnlyDots = true
        var isPath = true
        while let raw = path[index] {
            var byte = raw
            index += 1
            if raw == 0x25 {
                guard let high = path[index]?.hexadecimalValue, let low = path[index + 1]?.hexadecimalValue else {
                    throw .bad("The request target holds a broken percent escape.")
                }
                byte = high << 4 | low
                index += 2
                if isPath, byte < 0x20 || byte == 0x7F {
                    throw .bad("The path holds an escaped control character.")
                }
            } else if raw == .slash || raw == 0x3F {
                if isPath, isOnlyDots, dots == 2 { throw .bad("The path climbs with a dot segment.") }
                (dots, isOnlyDots) = (0, true)
                if raw == 0x3F { isPath = false }
                guard utf8.isComplete else { throw .bad("The path is not UTF-8.") }
                continue
            }
            if !isPath { continue }
            guard utf8.accept(byte) else { throw .bad("The path is not UTF-8.") }
            if byte == 0x2E { dots += 1 } else { isOnlyDots = false }
        }
        if isPath, isOnlyDots, dots == 2 { throw .bad("The path climbs with a dot segment.") }
        guard utf8.isComplete else { throw .bad("The path is not UTF-8.") }
    }
}

extension ByteView {
    /// Whether these bytes are `host [":" port]` (RFC 9110, 7.2), narrowed to what names a host in practice: user information and an empty
    /// host are not accepted.
    var isHost: Bool {
        guard let first = self[0] else { return false }
        var end = 0
        if first == 0x5B {
            while let byte = self[end], byte != 0x5D { end += 1 }
            guard self[end] != nil, part(1..<end).isAddress else { return false }
            end += 1
        } else {
            while let byte = self[end], ByteClass.of(byte).contains(.host) || isEscape(at: end) { end += byte == 0x25 ? 3 : 1 }
        }
        if end == 0 { return false }
        guard let separator = self[end] else { return true }
        guard separator == .colon else { return false }
        let port = part(end + 1..<max(end + 1, count))
        return port.isEmpty || (port.decimal.map { $0 <= 65_535 } ?? false)
    }

    private var isAddress: Bool {
        var address = in6_addr()
        return count <= 45 && !bytes.contains(0) && inet_pton(AF_INET6, string, &address) == 1
    }

    /// Of a byte that may stand in a name: no control, blank or delimiter in disguise.
    private func isEscape(at index: Int) -> Bool {
        guard self[index] == 0x25, let high = self[index + 1]?.hexadecimalValue, let low = self[index + 2]?.hexadecimalValue else {
            return false
        }
        let byte = high << 4 | low
        return byte > 0x20 && byte != 0x7F && !Array("/?#@:[]\\%".utf8).contains(byte)
    }
}

/// Checks UTF-8 byte by byte: no overlong forms, no surrogates, nothing above U+10FFFF (RFC 3629).
private struct UTF8Validator {
    private var missing = 0
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    /// Whether no character is left half.
    var isComplete: Bool { missing == 0 }

    /// False where no text goes on with this byte.
    mutating func accept(_ byte: UInt8) -> Bool {
        if missing > 0 {
            guard byte >= lower, byte <= upper else { return false }
            (lower, upper) = (0x80, 0xBF)
            missing -= 1
            return true
        }
        switch byte {
        case 0...0x7F: return true
        case 0xC2...0xDF: missing = 1
        case 0xE0...0xEF:
            missing = 2
            if byte == 0xE0 { lower = 0xA0 }
            if byte == 0xED { upper = 0x9F }
        case 0xF0...0xF4:
            missing = 3
            if byte == 0xF0 { lower = 0x90 }
            if byte == 0xF4 { upper = 0x8F }
        default: return false
        }
        return true
    }
}
