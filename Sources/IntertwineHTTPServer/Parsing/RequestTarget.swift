internal import Glibc
internal import IntertwinePrimitives

/// The four forms of a request target (RFC 9112, 3.2), parsed and validated.
package enum RequestTarget {
    case origin(path: Range<Int>, authority: Range<Int>?)
    case asterisk
    case authority

    package init(_ parser: HeadParser, _ bytes: UnsafeBufferPointer<UInt8>) throws(HTTPParseError) {
        let (range, target, method) = (parser.target, ByteView(bytes, parser.target), ByteView(bytes, parser.method))
        if method.isEqual("CONNECT") {
            guard target.isHost, target.bytes.contains(.colon) else { throw .bad("CONNECT needs a host and a port.") }
            self = .authority
        } else if target[0] == .slash {
            try Self.check(target)
            self = .origin(path: range, authority: nil)
        } else if target.isEqual("*") {
            guard method.isEqual("OPTIONS") || RequestMethod(method) == .other else {
                throw .bad("The target * is valid for OPTIONS only.")
            }
            self = .asterisk
        } else {
            guard let scheme = target.scheme else { throw .bad("The request target is neither a path nor an absolute URL.") }
            let isWeb = scheme.isEqualIgnoringCase("http") || scheme.isEqualIgnoringCase("https")
            guard isWeb else { throw Self.misdirected }
            let rest = target.part(scheme.count + 3..<target.count)
            let end = rest.bytes.firstIndex { $0 == .slash || $0 == 0x3F } ?? rest.count
            guard rest.part(0..<end).isHost else { throw .bad("The authority of the request target is malformed.") }
            try Self.check(rest.part(end..<rest.count))
            // This server is the origin of the host in the Host field, by https behind a proxy, and no proxy itself (RFC 9110, 7.4). HTTP/1.0 may
            // omit Host.
            let (host, named) = (parser.value(of: .host, in: bytes), rest.part(0..<end))
            guard host.isEmpty || named.isSameAuthority(as: host, defaultPort: scheme.count == 4 ? "80" : "443") else {
                throw Self.misdirected
            }
            let path = range.upperBound - rest.count + end
            self = .origin(path: path..<range.upperBound, authority: (path - end)..<path)
        }
    }

    private static let misdirected = HTTPParseError(421, "The request target names another server.")

    private static func check(_ target: ByteView) throws(HTTPParseError) {
        var (index, dots, isOnlyDots, isASCII) = (0, 0, true, true)
        var end: Int?
        while let raw = target[index] {
            var byte = raw
            index += 1
            if end != nil { break }
            if raw == 0x25 {
                guard let high = target[index]?.hexadecimalValue, let low = target[index + 1]?.hexadecimalValue else {
                    throw .bad("The path contains an invalid percent escape.")
                }
                byte = high << 4 | low
                index += 2
                if byte < 0x20 || byte == 0x7F {
                    throw .bad("The path contains an escaped control character.")
                }
            } else if raw == .slash || raw == 0x3F {
                if isOnlyDots, dots == 2 { throw .bad("The path contains a dot segment.") }
                (dots, isOnlyDots) = (0, true)
                if raw == 0x3F { end = index - 1 }
                continue
            } else if raw < 0x80, [0x22, 0x23, 0x3C, 0x3E, 0x5C].contains(raw) {
                throw .bad("The path contains an invalid byte.")
            }
            if byte >= 0x80 { isASCII = false }
            if byte == 0x2E { dots += 1 } else { isOnlyDots = false }
        }
        if end == nil, isOnlyDots, dots == 2 { throw .bad("The path contains a dot segment.") }
        if isASCII { return }
        let path = String(validating: target.part(0..<(end ?? target.count)).bytes, as: UTF8.self)
        if path.flatMap({ PercentCoding.decode(Substring($0)) }) == nil { throw .bad("The path is not UTF-8.") }
    }
}

extension ByteView {
    /// The scheme of an absolute URL with an authority (RFC 3986, 3.1); nil for other text.
    fileprivate var scheme: ByteView? {
        guard let end = bytes.firstIndex(of: .colon), self[end + 1] == .slash, self[end + 2] == .slash else { return nil }
        let scheme = part(0..<end)
        guard let first = scheme[0]?.lowercased, (0x61...0x7A).contains(first) else { return nil }
        let isWellFormed = scheme.bytes.allSatisfy {
            (0x61...0x7A).contains($0.lowercased) || (0x30...0x39).contains($0) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E
        }
        return isWellFormed ? scheme : nil
    }

    /// Returns true if two authorities name an equal host and port (RFC 9110, 4.2.3).
    fileprivate func isSameAuthority(as other: ByteView, defaultPort: StaticString) -> Bool {
        let (own, other) = (without(defaultPort), other.without(defaultPort))
        return own.count == other.count && zip(own.bytes, other.bytes).allSatisfy { $0.lowercased == $1.lowercased }
    }

    private func without(_ defaultPort: StaticString) -> ByteView {
        guard let end = bytes.lastIndex(of: .colon) else { return self }
        let port = part(end + 1..<count)
        return port.isEmpty || port.isEqual(defaultPort) ? part(0..<end) : self
    }

    /// True if the bytes are `host [":" port]` (RFC 9110, 7.2), restricted to practical host names: user information and an empty host are
    /// not accepted.
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

    private func isEscape(at index: Int) -> Bool {
        guard self[index] == 0x25, let high = self[index + 1]?.hexadecimalValue, let low = self[index + 2]?.hexadecimalValue else {
            return false
        }
        let byte = high << 4 | low
        return byte > 0x20 && byte != 0x7F && !Array("/?#@:[]\\%".utf8).contains(byte)
    }
}
