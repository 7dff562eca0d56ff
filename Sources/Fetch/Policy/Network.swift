/// A range of addresses in CIDR notation.
public struct Network: Hashable, Sendable, CustomStringConvertible {
    let address: IPAddress
    let prefix: Int

    /// Parses `10.0.0.0/8` or `fd00::/8`; a lone address is the range that holds it alone. Nil for anything else,
    /// and where bits are set behind the prefix: `10.0.0.1/8` is more often a mistake than a meaning.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        let width = address.family == .v4 ? 32 : 128
        var prefix = width
        if parts.count == 2 {
            guard parts[1].utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(parts[1]), number <= width else { return nil }
            prefix = number
        }
        let behind = width - prefix
        guard behind == 128 ? address.bits == 0 : address.bits & ((1 << behind) - 1) == 0 else { return nil }
        self.address = address
        self.prefix = prefix
    }

    public func contains(_ other: IPAddress) -> Bool {
        guard other.family == address.family else { return false }
        let shift = (address.family == .v4 ? 32 : 128) - prefix
        return shift == 128 || (other.bits ^ address.bits) >> UInt128(shift) == 0
    }

    public var description: String {
        "\(address)/\(prefix)"
    }
}
