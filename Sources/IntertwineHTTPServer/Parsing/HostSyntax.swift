internal import Glibc
internal import IntertwinePrimitives

/// The grammar of `host [":" port]` (RFC 9110, 7.2), narrowed to what names a host in practice.
enum HostSyntax {
    /// Whether these bytes are a host, with or without a port. User information and an empty host are not accepted.
    static func isValid(_ authority: ByteView) -> Bool {
        guard let first = authority[0] else { return false }
        var end = 0
        if first == 0x5B {
            while let byte = authority[end], byte != 0x5D { end += 1 }
            guard authority[end] != nil, isAddress(authority.part(1..<end)) else { return false }
            end += 1
        } else {
            while let byte = authority[end], ByteClass.of(byte).contains(.host) || isEscape(authority, at: end) {
                end += byte == 0x25 ? 3 : 1
            }
        }
        if end == 0 { return false }
        guard let separator = authority[end] else { return true }
        guard separator == .colon else { return false }
        let port = authority.part(end + 1..<max(end + 1, authority.count))
        return port.isEmpty || (port.decimal.map { $0 <= 65_535 } ?? false)
    }

    private static func isAddress(_ bytes: ByteView) -> Bool {
        var address = in6_addr()
        return bytes.count <= 45 && !bytes.bytes.contains(0) && inet_pton(AF_INET6, bytes.string, &address) == 1
    }

    /// Of a byte that may stand in a name: no control, blank or delimiter in disguise.
    private static func isEscape(_ bytes: ByteView, at index: Int) -> Bool {
        guard bytes[index] == 0x25, let high = bytes[index + 1]?.hexadecimalValue, let low = bytes[index + 2]?.hexadecimalValue else {
            return false
        }
        let byte = high << 4 | low
        return byte > 0x20 && byte != 0x7F && !Array("/?#@:[]\\%".utf8).contains(byte)
    }
}
