internal import Fetch
internal import Images

extension ImageSettings {
    var policy: AddressPolicy {
        AddressPolicy(
            allowedNetworks: allowedNetworks.compactMap(Network.init), allowedPorts: Set(allowedPorts),
            allowedHosts: allowedHosts.compactMap(HostPattern.init), deniedHosts: deniedHosts.compactMap(HostPattern.init))
    }

    /// - Parameter folder: where pictures are kept on disk; not used where no room is given to them.
    func configuration(folder: String) -> ImageConfiguration {
        var configuration = ImageConfiguration()
        configuration.memoryBytes = memory.bytes
        configuration.folder = disk.bytes > 0 ? folder : nil
        configuration.diskBytes = disk.bytes
        configuration.downloads = downloads
        configuration.downloadsPerHost = downloadsPerHost
        configuration.queue = queue
        configuration.patience = patience
        configuration.grace = grace
        configuration.limits.bodyBytes = size.bytes
        configuration.limits.total = deadline
        configuration.freshness.shortest = shortest.milliseconds / 1_000
        return configuration
    }
}
