package import Glibc

/// An IPv4 or IPv6 address, without port and without zone.
package struct IPAddress: Hashable, Sendable, CustomStringConvertible {
    package let isV4: Bool
    let bits: UInt128

    init(isV4: Bool, bits: UInt128) {
        self.isV4 = isV4
        self.bits = bits
    }

    init(v4 number: UInt32) {
        self.init(isV4: true, bits: UInt128(number))
    }

    /// Parses dotted decimal or RFC 4291 text.
    package init?(_ text: String) {
        var v4 = in_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
            return
        }
        var v6 = in6_addr()
        guard inet_pton(AF_INET6, text, &v6) == 1 else { return nil }
        self.init(v6)
    }

    package init?(_ address: UnsafePointer<sockaddr>, length: Int) {
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
        self.init(isV4: false, bits: bits)
    }

    var bracketed: String {
        isV4 ? description : "[\(self)]"
    }

    package var description: String {
        if isV4 {
            return (0..<4).reversed().map { String(UInt8(truncatingIfNeeded: bits >> ($0 * 8))) }.joined(separator: ".")
        }
        return (0..<8).reversed().map { String(UInt16(truncatingIfNeeded: bits >> ($0 * 16)), radix: 16) }.joined(separator: ":")
    }

    /// Returns the addresses of this machine's interfaces, which a fetch must not reach even if they are public.
    static func ofThisMachine() -> Set<IPAddress> {
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

extension IPAddress {
    /// The IPv4 address that the kernel connects to for an IPv4-mapped address (`::ffff:a.b.c.d`), otherwise this address.
    var unmapped: IPAddress {
        !isV4 && bits >> 32 == 0xffff ? IPAddress(v4: UInt32(truncatingIfNeeded: bits)) : self
    }

    var embedded: [IPAddress] {
        if isV4 { return [] }
        func v4(_ shift: Int) -> IPAddress {
            IPAddress(v4: UInt32(truncatingIfNeeded: bits >> shift))
        }
        var found: [IPAddress] = []
        switch bits >> 32 {
        case 0, 0xffff, 0xffff_0000: found.append(v4(0))  // compatible, mapped, translated (RFC 2765)
        case 0x0064_ff9b << 64: found.append(v4(0))  // NAT64 (RFC 6052)
        default: break
        }
        if bits >> 112 == 0x2002 {  // 6to4 (RFC 3056)
            found.append(v4(80))
        }
        if bits >> 96 == 0x2001_0000 {  // Teredo (RFC 4380): server in clear, client inverted
            found.append(v4(64))
            found.append(IPAddress(v4: ~UInt32(truncatingIfNeeded: bits)))
        }
        let interface = UInt32(truncatingIfNeeded: bits >> 32)
        if interface & 0xfdff_ffff == 0x0000_5efe {  // ISATAP (RFC 5214)
            found.append(v4(0))
        }
        return found
    }
}
