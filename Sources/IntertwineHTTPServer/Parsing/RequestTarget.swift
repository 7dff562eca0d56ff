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
            guard HostSyntax.isValid(target), target.bytes.contains(.colon) else { throw .bad("CONNECT needs a host and a port.") }
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
            guard HostSyntax.isValid(authority) else { throw .bad("The authority of the request target is malformed.") }
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
