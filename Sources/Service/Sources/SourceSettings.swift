internal import Fetch

/// `sources.*`: JSON APIs that the store is kept in step with.
public struct SourceSettings: Sendable {
    /// The file that declares them; empty for none.
    public var file: String
    /// Networks allowed although their addresses are private, in CIDR notation.
    public var allowedNetworks: [String]
    public var allowedPorts: [UInt16]

    init(_ reader: inout SettingsReader) throws {
        file = try reader.read("sources.file", default: "", allowed: "a file's path")
        allowedNetworks = try reader.readList(
            "sources.allowed-networks", default: [], allowed: "networks such as 10.1.0.0/16 or fd00::/8", where: { Network($0) != nil })
        let ports = try reader.readList(
            "sources.allowed-ports", default: ["80", "443"], allowed: "ports from 1 to 65535", where: { (UInt16($0) ?? 0) > 0 })
        allowedPorts = ports.compactMap { UInt16($0) }
    }

    /// What sources, their next pages and their redirects may lead to.
    var policy: AddressPolicy {
        AddressPolicy(allowedNetworks: allowedNetworks.compactMap(Network.init), allowedPorts: Set(allowedPorts))
    }
}
