internal import IntertwineFetch

/// `sources.*`: JSON APIs that the store is kept in step with.
public struct SourceSettings: Sendable {
    /// The file that declares them; empty for none.
    public var file = ""
    /// Networks allowed although their addresses are private, in CIDR notation.
    public var allowedNetworks: [String] = []
    public var allowedPorts: [UInt16] = [80, 443]

    public init() {}

    mutating func read(_ reader: inout SettingsReader) {
        reader.read("sources.file", &file, allowed: "a file's path")
        reader.read(
            "sources.allowed-networks", &allowedNetworks, allowed: "networks such as 10.1.0.0/16 or fd00::/8", where: { Network($0) != nil }
        )
        reader.read("sources.allowed-ports", &allowedPorts, allowed: "ports from 1 to 65535", where: { $0 > 0 })
    }

    /// What sources, their next pages and their redirects may lead to.
    var policy: AddressPolicy {
        AddressPolicy(allowedNetworks: allowedNetworks.compactMap(Network.init), allowedPorts: Set(allowedPorts))
    }
}
