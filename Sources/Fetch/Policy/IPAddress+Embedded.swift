extension IPAddress {
    /// The IPv4 address that the kernel itself connects to for an IPv4-mapped address (`::ffff:a.b.c.d`), otherwise this address.
    var unmapped: IPAddress {
        family == .v6 && bits >> 32 == 0xffff ? IPAddress(v4: UInt32(truncatingIfNeeded: bits)) : self
    }

    /// The IPv4 addresses that a translator or a tunnel would reach for this IPv6 address. A rule against an IPv4 address
    /// is worth nothing if the same machine answers under one of these.
    var embedded: [IPAddress] {
        guard family == .v6 else { return [] }
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
