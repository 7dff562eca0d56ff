internal import Foundation
internal import IntertwineFeed
internal import IntertwineImages
internal import IntertwinePrimitives

/// The settings `images.*` of the image proxy.
public struct ImageSettings: Sendable, SettingsSection {
    private static let hosts = "host names such as pictures.example.com, or *.example.com"
    private static let ages: ClosedRange<Duration> = .zero ... .seconds(30 * 86_400)

    @Setting(
        "images.allowed-networks", "Private networks that may be fetched from, such as [10.1.0.0/16]: for your own origin.",
        allowed: Network.allowed, where: Network.isValid)
    public var allowedNetworks: [String] = []
    @Setting("images.allowed-ports", "Ports that may be fetched from.", allowed: "ports from 1 to 65535", where: { $0 > 0 })
    public var allowedPorts: [UInt16] = [80, 443]
    @Setting(
        "images.allowed-hosts", "If not empty, only these hosts are permitted; *.example.com includes all names below it.", allowed: hosts,
        where: { HostPattern($0) != nil })
    public var allowedHosts: [String] = []
    @Setting("images.denied-hosts", "Hosts that are never permitted.", allowed: hosts, where: { HostPattern($0) != nil })
    public var deniedHosts: [String] = []
    @Setting(
        "images.url-rotation",
        "Time for which an image has one URL, so that it can be cached; the URL of each image changes at a different time.",
        in: .seconds(86_400) ... .seconds(365 * 86_400))
    public var urlRotation: Duration = .seconds(30 * 86_400)
    @Setting(
        "images.url-lifetime", "Minimum validity of an image URL after its last appearance on a page; at most rotation longer.",
        in: .seconds(3_600) ... .seconds(365 * 86_400))
    public var urlLifetime: Duration = .seconds(7 * 86_400)
    @Setting(
        "images.memory-cache",
        "Bytes of the image cache in memory, all sizes included. auto is a sixteenth of the memory available to the process, 32MiB to 512MiB."
    )
    public var memoryCache = CacheSize.automatic
    @Setting("images.disk-cache", "Bytes of the image cache on disk, in the folder images beside the database; 0 for none.")
    public var diskCache: ByteCount = .gibibytes(2)
    @Setting("images.max-source-size", "Bytes of the largest image that is passed on.", in: .kibibytes(1) ... .gibibytes(1))
    public var maxSourceSize: ByteCount = .mebibytes(32)
    @Setting("images.downloads", "Concurrent downloads.", in: 1...10_000)
    public var downloads = 64
    @Setting("images.downloads-per-host", "Concurrent downloads from one host and port.", in: 1...10_000)
    public var downloadsPerHost = 6
    @Setting("images.queue", "Downloads that may be queued; beyond it the response is 503.", in: 0...1_000_000)
    public var queue = 256
    @Setting("images.queue-timeout", "Queue timeout of a download.")
    public var queueTimeout: Duration = .seconds(2)
    @Setting("images.abandon-delay", "Time for which a download without waiting requests continues, for users who scroll back.")
    public var abandonDelay: Duration = .milliseconds(100)
    @Setting("images.fetch-timeout", "Timeout of fetching one image.")
    public var fetchTimeout: Duration = .seconds(12)
    @Setting(
        "images.connect-timeout", "Timeout of connecting to an origin, with the TLS handshake.", in: .milliseconds(1) ... .seconds(3_600))
    public var connectTimeout: Duration = .seconds(3)
    @Setting(
        "images.header-timeout", "Timeout from the request to the end of the response's head.", in: .milliseconds(1) ... .seconds(3_600))
    public var headerTimeout: Duration = .seconds(5)
    @Setting("images.max-redirects", "Redirects that are followed.", in: 0...20)
    public var maxRedirects = 10
    @Setting(
        "images.worker-program",
        """
        The program that resizes images, intertwine-image-worker; if empty, the one beside the service's own program. Without it images \
        are served in their original form, and the log says so.
        """, allowed: "empty, or a program's path")
    public var workerProgram = ""
    @Setting(
        "images.workers",
        "Number of its processes, each with one image at a time; 0 for two for each processor that the control group allows.", in: 0...256)
    public var workers = 0
    @Setting(
        "images.worker-memory",
        """
        Memory of a process, which determines the largest images: a pixel takes 4 bytes in a baseline JPEG, which is reduced while it is \
        decoded, 8 in a progressive one, and 16 in other formats. Images in work use at most this memory together. Larger images are 415. \
        An image gets 10 s of time for each GiB, and at least 10 s.
        """, in: .mebibytes(512) ... .gibibytes(64))
    public var workerMemory: ByteCount = .gibibytes(1)
    @Setting(
        "images.min-ttl",
        """
        Minimum freshness of an image, if its origin gives a shorter one; 0ms to follow the origin. It does not apply if the origin \
        requires revalidation: no-cache, must-revalidate, proxy-revalidate, s-maxage, a lifetime of 0.
        """, in: ages)
    public var minTTL: Duration = .seconds(300)
    @Setting(
        "images.stale-while-revalidate",
        """
        Time for which a stale image may be served during revalidation, unless its origin specifies it. It does not apply if the origin \
        requires revalidation.
        """, in: ages)
    public var staleWhileRevalidate: Duration = .zero
    @Setting(
        "images.stale-if-error",
        """
        Time for which a stale image may be served if its origin fails, unless the origin specifies it. It does not apply if the origin \
        requires revalidation.
        """, in: ages)
    public var staleIfError: Duration = .zero
    @Setting(
        "images.freshness",
        """
        Exceptions for hosts; the first match applies. Each is a host and any of min-ttl, max-ttl, default-ttl (if the origin specifies \
        nothing), stale-while-revalidate and stale-if-error, such as 'pictures.example.com min-ttl=0s' or '*.example.com default-ttl=1h \
        max-ttl=7d'.
        """, allowed: HostFreshness.allowed, where: { HostFreshness(setting: $0, base: FreshnessPolicy()) != nil })
    public var freshness: [String] = []
    @Setting(
        "images.formats",
        "Newer formats of resized images, for clients that accept them, the preferred one first; if empty, only JPEG, PNG and GIF.",
        allowed: "avif, webp", where: { ["avif", "webp"].contains($0) })
    public var formats: [String] = ["avif", "webp"]
    @Setting(
        "images.quality",
        """
        Compression quality, from 1 to 100, by format, or by format and scale, such as [webp=75, webp@2x=60, avif=63, jpeg=80]; if absent, \
        the default of the format.
        """,
        allowed: EncodingQualities.allowed,
        where: {
            var qualities = EncodingQualities()
            return qualities.read(setting: $0)
        })
    public var quality: [String] = []
    @Setting(
        "images.fallbacks",
        """
        Substitutes for unavailable resized images, by the part of the cell: the file of an image, such as \
        [content=/etc/intertwine/content.png].
        """, allowed: "a part's name with a file, such as content=/etc/intertwine/content.png", where: { Self.fallback($0) != nil })
    public var fallbacks: [String] = []
    @Setting(
        "images.prefetch-percent",
        """
        Percent of the time for the prefetch of images of the next page: in the sizes and formats requested in the last ten minutes, one \
        at a time, at the lowest priority. 0 disables it.
        """, in: 0...50)
    public var prefetchPercent = 0
    @Setting(
        "images.metadata-entries",
        "Number of images whose placeholder, color and size are stored, about 200 bytes each in memory and 72 on disk.", in: 2...10_000_000)
    public var metadataEntries = 100_000
    @Setting(
        "images.sources",
        """
        Other locations of images: the images below a URL that ends in a slash come from a folder, in which links are not followed, or \
        from a bucket (S3), to which the rules for hosts, ports and networks above apply. Buckets are authenticated with \
        AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN of the environment; without them, anonymously. Such as \
        'https://pictures.example.com/ folder:/srv/images' or 'https://media.example.com/ s3:https://s3.eu-central-1.amazonaws.com/bucket/ \
        region=eu-central-1'.
        """, allowed: ImageSource.allowed, where: { ImageSource(setting: $0, credentials: nil) != nil })
    public var sources: [String] = []
    /// The credentials for buckets among ``sources``; nil for anonymous access, which is the default. No setting contains them.
    ///
    /// Settings that are read have the credentials of the environment.
    public var bucketCredentials: BucketCredentials?

    var memoryCacheBytes: Int { memoryCache.bytes(of: 16, in: 32 << 20...512 << 20) }

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

    /// One setting bounds both, because an image that needs more memory needs more time.
    var workerTimeout: Duration { .seconds(10 * max(1, workerMemory.bytes >> 30)) }

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

/// Credentials for buckets with the S3 protocol. They are secret.
///
/// ```swift
/// var configuration = ServiceConfiguration()
/// let environment = ProcessInfo.processInfo.environment
/// if let key = environment["BUCKET_KEY"], let secret = environment["BUCKET_SECRET"] {
///     configuration.images.bucketCredentials = BucketCredentials(accessKey: key, secret: secret)
/// }
/// ```
public struct BucketCredentials: Sendable, Hashable {
    /// The access key ID. The environment variable is `AWS_ACCESS_KEY_ID`.
    public var accessKey: String
    /// The secret access key. The environment variable is `AWS_SECRET_ACCESS_KEY`.
    public var secret: String
    /// The session token of temporary credentials; nil for permanent ones. The environment variable is `AWS_SESSION_TOKEN`.
    public var token: String?

    /// Creates credentials. Without a token, they are permanent.
    public init(accessKey: String, secret: String, token: String? = nil) {
        (self.accessKey, self.secret, self.token) = (accessKey, secret, token)
    }
}
