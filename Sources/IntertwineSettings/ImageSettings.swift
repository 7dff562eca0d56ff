public import IntertwineDeclarations

/// The settings `images.*` of the image proxy.
public struct ImageSettings: Sendable {
    /// Networks with private addresses that are allowed nevertheless, in CIDR notation. All other private addresses are refused (SSRF protection).
    public var allowedNetworks: [String] = []
    public var allowedPorts: [UInt16] = [80, 443]
    /// The hosts from which images may be fetched; empty for all hosts.
    public var allowedHosts: [String] = []
    public var deniedHosts: [String] = []
    /// The minimum validity of an image URL after each time it is sent.
    public var urlLifetime: Duration = .seconds(7 * 86_400)
    /// The time for which an image has a stable URL.
    public var urlRotation: Duration = .seconds(30 * 86_400)
    public var memoryCache: ByteCount = .mebibytes(64)
    public var diskCache: ByteCount = .gibibytes(2)
    /// The maximum size of an image at its origin.
    public var maxSourceSize: ByteCount = .mebibytes(8)
    public var downloads = 64
    public var downloadsPerHost = 6
    public var queue = 256
    /// The queue timeout of a download.
    public var queueTimeout: Duration = .seconds(2)
    /// The time for which a download without waiters continues, in case its viewer scrolls back.
    public var abandonDelay: Duration = .milliseconds(100)
    /// The timeout of a fetch in total.
    public var fetchTimeout: Duration = .seconds(12)
    /// The timeout of a connection to an origin, including the TLS handshake.
    public var connectTimeout: Duration = .seconds(3)
    /// The timeout from a request to the end of the origin's response head.
    public var headerTimeout: Duration = .seconds(5)
    /// The maximum number of redirects.
    public var maxRedirects = 3
    /// The path of the program that resizes images; empty for the one beside the service's own. `workers` is the number of its processes; 0 for two
    /// per processor.
    public var workerProgram = ""
    public var workers = 0
    /// The timeout of a worker for one image.
    public var workerTimeout: Duration = .seconds(10)
    /// The minimum freshness lifetime of an image, unless its origin forbids it.
    public var minTTL: Duration = .seconds(300)
    /// The time for which a stale image is served during a revalidation, and after a failure of its origin, if the origin does not define it.
    public var staleWhileRevalidate: Duration = .zero
    public var staleIfError: Duration = .zero
    /// The modern formats of resized images for clients that accept them, the preferred one first.
    public var formats: [String] = ["avif", "webp"]
    /// The compression quality of resized images by format and scale.
    public var quality: [String] = []
    /// The percentage of time for the prefetch of images on a reader's next page; 0 disables it.
    public var prefetchPercent = 0
    /// The maximum number of images with stored metadata.
    public var metadataEntries = 100_000
    /// The fallback images by the names of cell parts.
    public var fallbacks: [String] = []
    /// The freshness settings of single hosts.
    public var freshness: [String] = []
    /// The locations of images that are not fetched from their URLs.
    public var sources: [String] = []
    /// The credentials for buckets among ``sources``; nil for anonymous access. Settings that are read have the credentials of the environment.
    public var bucketCredentials: BucketCredentials?

    public init() {}
}

/// Credentials for buckets with the S3 protocol. They are secret.
public struct BucketCredentials: Sendable, Hashable {
    public var accessKey: String
    public var secret: String
    public var token: String?

    public init(accessKey: String, secret: String, token: String? = nil) {
        (self.accessKey, self.secret, self.token) = (accessKey, secret, token)
    }
}
