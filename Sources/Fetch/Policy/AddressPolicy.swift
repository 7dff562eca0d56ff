/// What may be fetched. Every fetch and every redirect hop passes here, and each address once more when it was resolved,
/// before its socket is opened, and before a connection is used again.
public struct AddressPolicy: Sendable {
    /// Addresses allowed although the built-in rules deny them, for those who fetch from their own network.
    public var allowedNetworks: [Network]
    public var allowedPorts: Set<UInt16>
    /// Where not empty, only these hosts.
    public var allowedHosts: [HostPattern]
    public var deniedHosts: [HostPattern]
    /// This machine's own addresses, denied even where they are public.
    public var ownAddresses: Set<IPAddress>

    public init(
        allowedNetworks: [Network] = [], allowedPorts: Set<UInt16> = [80, 443], allowedHosts: [HostPattern] = [],
        deniedHosts: [HostPattern] = [], ownAddresses: Set<IPAddress> = IPAddress.ofThisMachine()
    ) {
        self.allowedNetworks = allowedNetworks
        self.allowedPorts = allowedPorts
        self.allowedHosts = allowedHosts
        self.deniedHosts = deniedHosts
        self.ownAddresses = ownAddresses
    }

    /// Port and host, and the address where the host is one.
    public func check(_ url: FetchURL) throws(FetchFailure) {
        guard allowedPorts.contains(url.port) else { throw .portDenied }
        guard !deniedHosts.contains(where: { $0.matches(url.host) }) else { throw .hostDenied }
        guard allowedHosts.isEmpty || allowedHosts.contains(where: { $0.matches(url.host) }) else { throw .hostDenied }
        if let address = url.address, !permits(address) { throw .addressDenied }
    }

    /// Deny by default: an IPv6 address outside global unicast space is refused without being named by any rule.
    public func permits(_ address: IPAddress) -> Bool {
        let target = address.unmapped
        if allowedNetworks.contains(where: { $0.contains(target) || $0.contains(address) }) { return true }
        guard Self.isPublic(target), !ownAddresses.contains(target) else { return false }
        return target.embedded.allSatisfy { Self.isPublic($0) && !ownAddresses.contains($0) }
    }

    static func isPublic(_ address: IPAddress) -> Bool {
        switch address.family {
        case .v4: !deniedV4.contains { $0.contains(address) }
        case .v6: reachableV6.contains { $0.contains(address) } && !deniedV6.contains { $0.contains(address) }
        }
    }

    /// The IANA special-purpose registry (RFC 6890 and what was added since), multicast and the reserved block.
    private static let deniedV4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
        "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    ].compactMap(Network.init)

    /// Global unicast and the well-known NAT64 prefix; an embedded IPv4 address is judged besides.
    private static let reachableV6 = ["2000::/3", "64:ff9b::/96"].compactMap(Network.init)

    private static let deniedV6 = [
        "2001:2::/48", "2001:10::/28", "2001:20::/28", "2001:db8::/32", "3fff::/20",
    ].compactMap(Network.init)
}
