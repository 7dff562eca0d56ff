internal import Foundation
internal import IntertwineFetch
internal import IntertwineImages
internal import IntertwinePrimitives

extension ImageSettings {
    var policy: AddressPolicy {
        AddressPolicy(
            allowedNetworks: allowedNetworks.compactMap(Network.init), allowedPorts: Set(allowedPorts),
            allowedHosts: allowedHosts.compactMap(HostPattern.init), deniedHosts: deniedHosts.compactMap(HostPattern.init))
    }

    /// Longer than anything that a client waits for: a name, a turn, the fetch, and the pause before a second attempt.
    var timeLimit: Duration { .seconds(4) + patience + deadline }

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
        configuration.limits.connect = connectTimeout
        configuration.limits.head = headTimeout
        configuration.limits.redirects = redirects
        configuration.freshness.shortest = shortest.milliseconds / 1_000
        configuration.freshness.staleWhileRevalidate = staleWhileRevalidate.milliseconds / 1_000
        configuration.freshness.staleIfError = staleIfError.milliseconds / 1_000
        let credentials = S3Bucket.Credentials(environment: ProcessInfo.processInfo.environment)
        configuration.places = sources.compactMap { PicturePlace(setting: $0, credentials: credentials) }
        let base = configuration.freshness
        configuration.hostFreshness = freshness.compactMap { HostFreshness(setting: $0, base: base) }
        return configuration
    }
}
