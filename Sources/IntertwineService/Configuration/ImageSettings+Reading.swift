internal import Foundation
internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwinePrimitives

extension ImageSettings {
    mutating func read(_ reader: inout SettingsReader) {
        reader.read(
            "images.allowed-networks", &allowedNetworks, allowed: "networks such as 10.1.0.0/16 or fd00::/8", where: { Network($0) != nil })
        reader.read("images.allowed-ports", &allowedPorts, allowed: "ports from 1 to 65535", where: { $0 > 0 })
        reader.read("images.allowed-hosts", &allowedHosts, allowed: Self.hosts, where: { HostPattern($0) != nil })
        reader.read("images.denied-hosts", &deniedHosts, allowed: Self.hosts, where: { HostPattern($0) != nil })
        reader.read("images.url-lifetime", &urlLifetime, in: .seconds(3_600) ... .seconds(365 * 86_400))
        reader.read("images.url-rotation", &urlRotation, in: .seconds(86_400) ... .seconds(365 * 86_400))
        reader.read("images.memory-cache", &memoryCache)
        reader.read("images.disk-cache", &diskCache)
        reader.read("images.max-source-size", &maxSourceSize, in: 1 << 10...1 << 30)
        reader.read("images.downloads", &downloads, in: 1...10_000)
        reader.read("images.downloads-per-host", &downloadsPerHost, in: 1...10_000)
        reader.read("images.queue", &queue, in: 0...1_000_000)
        reader.read("images.queue-timeout", &queueTimeout)
        reader.read("images.abandon-delay", &abandonDelay)
        reader.read("images.fetch-timeout", &fetchTimeout)
        let timeouts: ClosedRange<Duration> = .milliseconds(1) ... .seconds(3_600)
        reader.read("images.connect-timeout", &connectTimeout, in: timeouts)
        reader.read("images.header-timeout", &headerTimeout, in: timeouts)
        reader.read("images.max-redirects", &maxRedirects, in: 0...20)
        reader.read("images.worker-program", &workerProgram, allowed: "empty, or a program's path")
        reader.read("images.workers", &workers, in: 0...256)
        reader.read("images.worker-timeout", &workerTimeout, in: .milliseconds(100) ... .seconds(300))
        reader.read("images.worker-memory", &workerMemory, in: 512 << 20...64 << 30)
        let ages: ClosedRange<Duration> = .zero ... .seconds(30 * 86_400)
        reader.read("images.min-ttl", &minTTL, in: ages)
        reader.read("images.stale-while-revalidate", &staleWhileRevalidate, in: ages)
        reader.read("images.stale-if-error", &staleIfError, in: ages)
        reader.read("images.formats", &formats, allowed: "avif, webp", where: { ["avif", "webp"].contains($0) })
        reader.read(
            "images.quality", &quality, allowed: EncodingQualities.allowed,
            where: {
                var qualities = EncodingQualities()
                return qualities.read(setting: $0)
            })
        reader.read("images.prefetch-percent", &prefetchPercent, in: 0...50)
        reader.read("images.metadata-entries", &metadataEntries, in: 2...10_000_000)
        reader.read("images.fallbacks", &fallbacks, allowed: Self.fallbackForms, where: { Self.fallback($0) != nil })
        reader.read(
            "images.sources", &sources, allowed: ImageSource.allowed, where: { ImageSource(setting: $0, credentials: nil) != nil })
        reader.read(
            "images.freshness", &freshness, allowed: HostFreshness.allowed,
            where: { HostFreshness(setting: $0, base: FreshnessPolicy()) != nil })
    }

    private static let hosts = "host names such as pictures.example.com, or *.example.com"
}

extension ImageSettings {
    var policy: AddressPolicy {
        AddressPolicy(
            allowedNetworks: allowedNetworks.compactMap(Network.init), allowedPorts: Set(allowedPorts),
            allowedHosts: allowedHosts.compactMap(HostPattern.init), deniedHosts: deniedHosts.compactMap(HostPattern.init))
    }

    var trackerPolicy: AddressPolicy {
        var policy = policy
        policy.allowedHosts = []
        return policy
    }

    private static let fallbackForms = "a part's name with a file, such as content=/etc/intertwine/content.png"

    private static func fallback(_ setting: String) -> (part: String, file: String)? {
        let words = setting.split(separator: "=", maxSplits: 1).map(String.init)
        guard words.count == 2, ImageFallback(part: words[0]) != nil, words[1].hasPrefix("/") else { return nil }
        return (words[0], words[1])
    }

    func fallbackImages() throws(ConfigurationError) -> [String: [UInt8]] {
        var images: [String: [UInt8]] = [:]
        for (part, file) in fallbacks.compactMap(Self.fallback) {
            guard let data = FileManager.default.contents(atPath: file), data.count <= maxSourceSize.bytes, ImageFormat.isImage(Array(data))
            else {
                throw ConfigurationError("images.fallbacks: \(file) cannot be read, or is no complete image")
            }
            images[part] = Array(data)
        }
        return images
    }

    func signer(_ keys: SigningKeys) throws(ConfigurationError) -> ImageURLSigner {
        let hours = UInt32(clamping: urlLifetime.milliseconds / 3_600_000)
        let rotation = UInt32(clamping: urlRotation.milliseconds / 3_600_000)
        guard let signer = ImageURLSigner(keys: Self.secrets(keys), horizonHours: hours, rotationHours: rotation) else {
            throw ConfigurationError("signing.key: cannot be used for image URLs")
        }
        return signer
    }

    static func secrets(_ keys: SigningKeys) -> [[UInt8]] {
        keys.accepted.map { $0.derived(for: SigningPurpose(rawValue: "image")) }
    }

    var timeLimit: Duration { .seconds(4) + queueTimeout + fetchTimeout }

    var workerConfiguration: ImageWorkers.Configuration {
        var configuration = ImageWorkers.Configuration()
        configuration.path = workerProgram.isEmpty ? nil : workerProgram
        configuration.count = workers > 0 ? workers : 2 * Processors.count
        configuration.timeLimit = workerTimeout
        configuration.memory = workerMemory.bytes
        return configuration
    }

    func configuration(folder: String) -> ImageConfiguration {
        var configuration = ImageConfiguration()
        configuration.memoryBytes = memoryCacheBytes
        configuration.folder = diskCache.bytes > 0 ? folder : nil
        configuration.diskBytes = diskCache.bytes
        configuration.downloads = downloads
        configuration.downloadsPerHost = downloadsPerHost
        configuration.queue = queue
        configuration.queueTimeout = queueTimeout
        configuration.grace = abandonDelay
        configuration.formats = formats.compactMap { ["avif": ImageFormat.avif, "webp": .webp][$0] }
        for each in quality { configuration.qualities.read(setting: each) }
        configuration.limits.bodyBytes = maxSourceSize.bytes
        configuration.workerMemory = workerMemory.bytes
        configuration.limits.total = fetchTimeout
        configuration.limits.connect = connectTimeout
        configuration.limits.head = headerTimeout
        configuration.limits.redirects = maxRedirects
        configuration.freshness.minTTL = minTTL.milliseconds / 1_000
        configuration.freshness.staleWhileRevalidate = staleWhileRevalidate.milliseconds / 1_000
        configuration.freshness.staleIfError = staleIfError.milliseconds / 1_000
        let credentials = bucketCredentials.map { S3Bucket.Credentials(accessKey: $0.accessKey, secret: $0.secret, token: $0.token) }
        configuration.sources = sources.compactMap { ImageSource(setting: $0, credentials: credentials) }
        let base = configuration.freshness
        configuration.hostFreshness = freshness.compactMap { HostFreshness(setting: $0, base: base) }
        return configuration
    }
}

extension EncodingQualities {
    static let allowed = "a format with a quality from 1 to 100, for all scales or for one, such as webp=75 or webp@2x=60"

    @discardableResult
    mutating func read(setting: String) -> Bool {
        let parts = setting.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2, let quality = Int(parts[1]), (1...100).contains(quality) else { return false }
        let names = parts[0].split(separator: "@", omittingEmptySubsequences: false).map(String.init)
        let kinds: [String: ImageFormat] = ["avif": .avif, "webp": .webp, "jpeg": .jpeg]
        guard names.count <= 2, let kind = names.first.flatMap({ kinds[$0] }) else { return false }
        let scale = names.count == 2 ? ProcessingOptions.scales.first { names[1] == "\($0)x" } : nil
        guard names.count == 1 || scale != nil else { return false }
        set(quality, of: kind, scale: scale)
        return true
    }
}

extension HostFreshness {
    static let allowed =
        "a host and its values, such as 'pictures.example.com min-ttl=0s' or '*.example.com default-ttl=1h max-ttl=7d "
        + "stale-while-revalidate=1h stale-if-error=1d'"

    init?(setting: String, base: FreshnessPolicy) {
        let words = setting.split(separator: " ")
        guard let host = words.first.flatMap({ HostPattern(String($0)) }), words.count > 1 else { return nil }
        var policy = base
        for word in words.dropFirst() {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let time = Duration(setting: parts[1]), (.zero...(.seconds(365 * 86_400))).contains(time) else {
                return nil
            }
            let seconds = time.milliseconds / 1_000
            switch parts[0] {
            case "min-ttl": policy.minTTL = seconds
            case "max-ttl": policy.maxTTL = seconds
            case "default-ttl": (policy.defaultTTL, policy.heuristicMaxTTL) = (seconds, seconds)
            case "stale-while-revalidate": policy.staleWhileRevalidate = seconds
            case "stale-if-error": policy.staleIfError = seconds
            default: return nil
            }
        }
        self.init(host, policy)
    }
}

extension ImageSource {
    static let allowed =
        "a URL that ends in a slash and the location of its images, such as 'https://pictures.example.com/ folder:/srv/images' or "
        + "'https://media.example.com/ s3:https://s3.eu-central-1.amazonaws.com/bucket/ region=eu-central-1'"

    init?(setting: String, credentials: S3Bucket.Credentials?) {
        let words = setting.split(separator: " ").map(String.init)
        guard words.count >= 2, let prefix = try? FetchURL(words[0]) else { return nil }
        let store: Store
        if let path = words[1].suffix(behind: "folder:"), words.count == 2, let folder = SandboxedDirectory(path) {
            store = .folder(folder)
        } else if let text = words[1].suffix(behind: "s3:"), text.hasSuffix("/"), words.count <= 3, let endpoint = try? FetchURL(text) {
            guard let region = words.count == 3 ? words[2].suffix(behind: "region=") : "us-east-1", !region.isEmpty else { return nil }
            store = .bucket(S3Bucket(endpoint: endpoint, region: region, credentials: credentials))
        } else {
            return nil
        }
        self.init(prefix: prefix, store: store)
    }
}

extension BucketCredentials {
    init?(environment: [String: String]) {
        guard let key = environment["AWS_ACCESS_KEY_ID"], let secret = environment["AWS_SECRET_ACCESS_KEY"], !key.isEmpty, !secret.isEmpty
        else { return nil }
        self.init(accessKey: key, secret: secret, token: environment["AWS_SESSION_TOKEN"])
    }
}

extension String {
    fileprivate func suffix(behind prefix: String) -> String? {
        hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil
    }
}
