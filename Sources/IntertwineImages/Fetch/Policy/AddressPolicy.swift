internal import IntertwinePrimitives

/// A policy that protects against server-side request forgery (SSRF).
package struct AddressPolicy: Sendable {
    /// The addresses that are allowed although the built-in rules deny them, for fetches from a private network.
    package var allowedNetworks: [Network]
    package var allowedPorts: Set<UInt16>
    package var allowedHosts: [HostPattern]
    package var deniedHosts: [HostPattern]
    /// The addresses of this machine, which are denied even if they are public.
    package var ownAddresses: Set<IPAddress>
    package var deniesPublicAddresses: Bool

    package init(
        allowedNetworks: [Network] = [], allowedPorts: Set<UInt16> = [80, 443], allowedHosts: [HostPattern] = [],
        deniedHosts: [HostPattern] = [], ownAddresses: Set<IPAddress> = IPAddress.ofThisMachine(), deniesPublicAddresses: Bool = false
    ) {
        self.allowedNetworks = allowedNetworks
        self.allowedPorts = allowedPorts
        self.allowedHosts = allowedHosts
        self.deniedHosts = deniedHosts
        self.ownAddresses = ownAddresses
        self.deniesPublicAddresses = deniesPublicAddresses
    }

    package func check(_ url: FetchURL) throws(FetchError) {
        guard allowedPorts.contains(url.port) else { throw .portDenied }
        guard !deniedHosts.contains(where: { $0.matches(url.host) }) else { throw .hostDenied }
        guard allowedHosts.isEmpty || allowedHosts.contains(where: { $0.matches(url.host) }) else { throw .hostDenied }
        if let address = url.address, !permits(address) { throw .addressDenied }
    }

    package func permits(_ address: IPAddress) -> Bool {
        let target = address.unmapped
        if allowedNetworks.contains(where: { $0.contains(target) || $0.contains(address) }) { return true }
        guard !deniesPublicAddresses, Self.isPublic(target), !ownAddresses.contains(target) else { return false }
        return target.embedded.allSatisfy { Self.isPublic($0) && !ownAddresses.contains($0) }
    }

    private static func isPublic(_ address: IPAddress) -> Bool {
        if address.isV4 { return !deniedV4.contains { $0.contains(address) } }
        return reachableV6.contains { $0.contains(address) } && !deniedV6.contains { $0.contains(address) }
    }

    /// The IANA special-purpose registry (RFC 6890 and later additions), multicast and the reserved block.
    private static let deniedV4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
        "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    ].compactMap(Network.init)

    private static let reachableV6 = ["2000::/3", "64:ff9b::/96"].compactMap(Network.init)

    private static let deniedV6 = [
        "2001:2::/48", "2001:10::/28", "2001:20::/28", "2001:db8::/32", "3fff::/20",
    ].compactMap(Network.init)
}

package struct Network: Hashable, Sendable, CustomStringConvertible {
    private let address: IPAddress
    private let prefix: Int

    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        let width = address.isV4 ? 32 : 128
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

    /// An address of the other family never is.
    package func contains(_ other: IPAddress) -> Bool {
        guard other.isV4 == address.isV4 else { return false }
        let shift = (address.isV4 ? 32 : 128) - prefix
        return shift == 128 || (other.bits ^ address.bits) >> UInt128(shift) == 0
    }

    package var description: String {
        "\(address)/\(prefix)"
    }
}

/// A pattern of a host name, or of every name below one: `example.com`, `*.example.com`.
package struct HostPattern: Hashable, Sendable, CustomStringConvertible {
    private let labels: [String]
    private let below: Bool

    package init?(_ text: String) {
        var rest = Substring(text.lowercased())
        below = rest.hasPrefix("*.")
        if below { rest = rest.dropFirst(2) }
        guard let name = try? WebURL.host(Array(rest.utf8)[...]) else { return nil }
        rest = name[...]
        if rest.hasSuffix(".") { rest = rest.dropLast() }
        labels = rest.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let legal = labels.allSatisfy { label in
            !label.isEmpty && label.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) || $0 == 45 || $0 == 95 }
        }
        guard legal else { return nil }
    }

    package func matches(_ host: String) -> Bool {
        let other = host.split(separator: ".", omittingEmptySubsequences: false)
        if below {
            return other.count > labels.count && other.suffix(labels.count).elementsEqual(labels, by: ==)
        }
        return other.elementsEqual(labels, by: ==)
    }

    package var description: String {
        (below ? "*." : "") + labels.joined(separator: ".")
    }
}
