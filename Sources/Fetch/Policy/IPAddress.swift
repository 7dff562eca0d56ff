public import Glibc

/// An IPv4 or IPv6 address, without port and without zone.
public struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    public enum Family: Sendable, Hashable {
        case v4, v6
    }

    public let family: Family
    /// The address as a number in host order; an IPv4 address fills the low 32 bits.
    let bits: UInt128

    init(family: Family, bits: UInt128) {
        self.family = family
        self.bits = bits
    }

    /// An IPv4 address from its number in host order.
    init(v4 number: UInt32) {
        self.init(family: .v4, bits: UInt128(number))
    }

    /// Parses dotted decimal or RFC 4291 text. Nil for anything else: no shorthand, no octal, no zone, no brackets.
    public init?(_ text: String) {
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
            return
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        self.init(v6)
    }

    /// The address in a socket address; nil for a family other than IPv4 and IPv6 or where `length` is too short for it.
    public init?(_ address: UnsafePointer<sockaddr>, length: Int) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size:
            self.init(v4: UInt32(bigEndian: raw.loadUnaligned(as: sockaddr_in.self).sin_addr.s_addr))
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size:
            self.init(raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr)
        default:
            return nil
        }
    }

    private init(_ address: in6_addr) {
        let bits = withUnsafeBytes(of: address) { bytes in
            bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        }
        self.init(family: .v6, bits: bits)
    }

    /// How the text form is written in a URL or a `host:port` pair.
    public var bracketed: String {
        family == .v6 ? "[\(self)]" : description
    }

    public var description: String {
        if family == .v4 {
            return (0..<4).reversed().map { String(UInt8(truncatingIfNeeded: bits >> ($0 * 8))) }.joined(separator: ".")
        }
        return (0..<8).reversed().map { String(UInt16(truncatingIfNeeded: bits >> ($0 * 16)), radix: 16) }.joined(separator: ":")
    }

    /// The addresses of this machine's interfaces: what a fetch must not reach merely because they are public.
    public static func ofThisMachine() -> Set<IPAddress> {
        var head: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&head) == 0 else { return [] }
        defer { freeifaddrs(head) }
        var found: Set<IPAddress> = []
        var next = head
        while let entry = next {
            if let address = entry.pointee.ifa_addr {
                let length = Int32(address.pointee.sa_family) == AF_INET ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
                if let parsed = IPAddress(address, length: length) {
                    found.insert(parsed)
                }
            }
            next = entry.pointee.ifa_next
        }
        return found
    }
}
