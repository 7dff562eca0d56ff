internal import Glibc

/// The address and port of the other end of a connection.
public struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    private let high: UInt64
    private let low: UInt64
    /// The port of the TCP connection.
    public let port: UInt16

    private init(high: UInt64, low: UInt64) {
        (self.high, self.low, port) = (high, low, 0)
    }

    /// The address without the port, for counting connections and storing state per peer.
    public var host: PeerAddress { PeerAddress(high: high, low: low) }

    /// The network of a client: its IPv4 address, or the first 64 bits of its IPv6 address.
    ///
    /// ```swift
    /// PeerAddress("192.0.2.1", port: 80)?.network.address  // "192.0.2.1"
    /// PeerAddress("2001:db8::1", port: 80)?.network.address  // "2001:db8::"
    /// ```
    public var network: PeerAddress { high == 0 ? host : PeerAddress(high: high, low: 0) }

    /// Parses a numeric address, for requests without a connection. Returns nil if the text is not an address.
    ///
    /// ```swift
    /// PeerAddress("192.0.2.1", port: 80)?.description  // "192.0.2.1:80"
    /// PeerAddress("example.com", port: 80)  // nil
    /// ```
    public init?(_ address: String, port: UInt16) {
        var storage = sockaddr_storage()
        let isRead = withUnsafeMutableBytes(of: &storage) { bytes in
            var (four, six) = (sockaddr_in(), sockaddr_in6())
            if inet_pton(AF_INET, address, &four.sin_addr) == 1 {
                (four.sin_family, four.sin_port) = (sa_family_t(AF_INET), port.bigEndian)
                withUnsafeBytes(of: four) { bytes.copyMemory(from: $0) }
            } else if inet_pton(AF_INET6, address, &six.sin6_addr) == 1 {
                (six.sin6_family, six.sin6_port) = (sa_family_t(AF_INET6), port.bigEndian)
                withUnsafeBytes(of: six) { bytes.copyMemory(from: $0) }
            } else {
                return false
            }
            return true
        }
        guard isRead else { return nil }
        self.init(storage)
    }

    init(_ storage: sockaddr_storage) {
        var storage = storage
        if storage.ss_family == sa_family_t(AF_INET6) {
            (high, low, port) = withUnsafeBytes(of: &storage) { bytes in
                let address = bytes.loadUnaligned(as: sockaddr_in6.self)
                return withUnsafeBytes(of: address.sin6_addr) { raw in
                    (
                        raw.loadUnaligned(as: UInt64.self).bigEndian, raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self).bigEndian,
                        address.sin6_port.bigEndian
                    )
                }
            }
        } else {
            (high, low, port) = withUnsafeBytes(of: &storage) { bytes in
                let address = bytes.loadUnaligned(as: sockaddr_in.self)
                return (0, 0xFFFF_0000_0000 | UInt64(address.sin_addr.s_addr.bigEndian), address.sin_port.bigEndian)
            }
        }
    }

    /// The address without the port, as text.
    public var address: String {
        if high == 0, low >> 32 == 0xFFFF { return Self.dotted(UInt32(truncatingIfNeeded: low)) }
        var raw = (high.bigEndian, low.bigEndian)
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        inet_ntop(AF_INET6, &raw, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func dotted(_ address: UInt32) -> String {
        String(unsafeUninitializedCapacity: 15) { text in
            var count = 0
            for shift in stride(from: UInt32(24), through: 0, by: -8) {
                let part = UInt8(truncatingIfNeeded: address >> shift)
                if shift != 24 { (text[count], count) = (UInt8(ascii: "."), count + 1) }
                if part >= 100 { (text[count], count) = (0x30 + part / 100, count + 1) }
                if part >= 10 { (text[count], count) = (0x30 + part / 10 % 10, count + 1) }
                (text[count], count) = (0x30 + part % 10, count + 1)
            }
            return count
        }
    }

    /// The address and port: `192.0.2.1:80` or `[2001:db8::1]:80`.
    public var description: String {
        high == 0 && low >> 32 == 0xFFFF ? "\(address):\(port)" : "[\(address)]:\(port)"
    }
}
