/// The settings `images.*` of the image proxy.
///
/// ```swift
/// var images = ImageSettings()
/// images.allowedHosts = ["pictures.example.com", "*.example.org"]
/// images.diskCache = .gibibytes(10)
/// images.quality = ["webp=75", "jpeg=80"]
/// ```
public struct ImageSettings: Sendable {
    /// Networks with private addresses that are allowed nevertheless, in CIDR notation (`images.allowed-networks`). It is empty by default.
    ///
    /// All other private addresses are refused, which prevents server-side request forgery (SSRF).
    public var allowedNetworks: [String] = []
    /// The ports from which images may be fetched (`images.allowed-ports`). The default is 80 and 443.
    public var allowedPorts: [UInt16] = [80, 443]
    /// The hosts from which images may be fetched (`images.allowed-hosts`); empty for all hosts, which is the default.
    ///
    /// A pattern such as `*.example.com` includes all names below `example.com`.
    public var allowedHosts: [String] = []
    /// The hosts from which images are never fetched (`images.denied-hosts`), in the form of ``allowedHosts``. It is empty by default.
    public var deniedHosts: [String] = []
    /// The minimum validity of an image URL after each time it is sent (`images.url-lifetime`), from 1 h to 365 d. The default is 7 d.
    public var urlLifetime: Duration = .seconds(7 * 86_400)
    /// The time for which an image has a stable URL (`images.url-rotation`), from 1 d to 365 d. The default is 30 d.
    public var urlRotation: Duration = .seconds(30 * 86_400)
    /// The memory limit of the image cache, all sizes included (`images.memory-cache`).
    ///
    /// The default is ``CacheSize/automatic``: a sixteenth of the memory that the process may use, from 32 MiB to 512 MiB.
    public var memoryCache = CacheSize.automatic
    /// The limit of the image cache on disk in bytes (`images.disk-cache`); 0 for none. The default is 2 GiB.
    public var diskCache: ByteCount = .gibibytes(2)
    /// The maximum size of an image at its origin in bytes (`images.max-source-size`), from 1 KiB to 1 GiB. The default is 32 MiB.
    public var maxSourceSize: ByteCount = .mebibytes(32)
    /// The maximum number of concurrent downloads (`images.downloads`), from 1 to 10 000. The default is 64.
    public var downloads = 64
    /// The maximum number of concurrent downloads from one host and port (`images.downloads-per-host`), from 1 to 10 000. The default is 6.
    public var downloadsPerHost = 6
    /// The maximum number of queued downloads (`images.queue`). Beyond it, the response is 503. The default is 256.
    public var queue = 256
    /// The queue timeout of a download (`images.queue-timeout`). The default is 2 s.
    public var queueTimeout: Duration = .seconds(2)
    /// The time for which a download without waiters continues, in case its viewer scrolls back (`images.abandon-delay`).
    ///
    /// The default is 100 ms.
    public var abandonDelay: Duration = .milliseconds(100)
    /// The timeout of a fetch in total (`images.fetch-timeout`). The default is 12 s.
    public var fetchTimeout: Duration = .seconds(12)
    /// The timeout of a connection to an origin, including the TLS handshake (`images.connect-timeout`). The default is 3 s.
    public var connectTimeout: Duration = .seconds(3)
    /// The timeout from a request to the end of the origin's response head (`images.header-timeout`). The default is 5 s.
    public var headerTimeout: Duration = .seconds(5)
    /// The maximum number of redirects (`images.max-redirects`), from 0 to 20. The default is 3.
    public var maxRedirects = 3
    /// The path of the program that resizes images (`images.worker-program`). The default is empty: the program beside the service's own.
    public var workerProgram = ""
    /// The number of processes of ``workerProgram`` (`images.workers`), from 0 to 256. The default of 0 means two per processor.
    public var workers = 0
    /// The timeout of a worker for one image (`images.worker-timeout`), from 100 ms to 300 s. The default is 10 s.
    public var workerTimeout: Duration = .seconds(10)
    /// The memory of a worker in bytes (`images.worker-memory`), from 512 MiB to 64 GiB. The default is 1 GiB.
    ///
    /// With ``workerTimeout`` it determines the largest images. The images in work use at most the memory of one worker, together.
    public var workerMemory: ByteCount = .gibibytes(1)
    /// The minimum freshness lifetime of an image, unless its origin forbids it (`images.min-ttl`), up to 30 d. The default is 5 min.
    public var minTTL: Duration = .seconds(300)
    /// The time for which a stale image is served during a revalidation (`images.stale-while-revalidate`), up to 30 d. The default is zero.
    ///
    /// The origin's own `stale-while-revalidate` (RFC 5861 section 3) precedes it.
    public var staleWhileRevalidate: Duration = .zero
    /// The time for which a stale image is served after a failure of its origin (`images.stale-if-error`), up to 30 d. The default is zero.
    ///
    /// The origin's own `stale-if-error` (RFC 5861 section 4) precedes it.
    public var staleIfError: Duration = .zero
    /// The modern formats of resized images for clients that accept them, the preferred one first (`images.formats`).
    ///
    /// The default is `avif`, `webp`. If it is empty, resized images are JPEG, PNG or GIF.
    public var formats: [String] = ["avif", "webp"]
    /// The compression quality of resized images by format, or by format and scale (`images.quality`), such as `webp@2x=60`.
    ///
    /// Values range from 1 to 100. An absent format has its own default.
    public var quality: [String] = []
    /// The percentage of time for the prefetch of images on a reader's next page (`images.prefetch-percent`), from 0 to 50.
    ///
    /// The default of 0 disables the prefetch.
    public var prefetchPercent = 0
    /// The maximum number of images with stored metadata (`images.metadata-entries`), from 2 to 10 000 000. The default is 100 000.
    public var metadataEntries = 100_000
    /// The fallback images by the names of cell parts (`images.fallbacks`), such as `content=/etc/intertwine/content.png`. It is empty by default.
    public var fallbacks: [String] = []
    /// The freshness settings of single hosts (`images.freshness`), such as `*.example.com default-ttl=1h`. It is empty by default.
    public var freshness: [String] = []
    /// The locations of images that are not fetched from their URLs (`images.sources`): folders and buckets. It is empty by default.
    public var sources: [String] = []
    /// The credentials for buckets among ``sources``; nil for anonymous access, which is the default. No setting contains them.
    ///
    /// Settings that are read have the credentials of the environment.
    public var bucketCredentials: BucketCredentials?

    /// Creates settings with the default values.
    public init() {}
}

/// Credentials for buckets with the S3 protocol. They are secret.
///
/// ```swift
/// var images = ImageSettings()
/// let environment = ProcessInfo.processInfo.environment
/// if let key = environment["BUCKET_KEY"], let secret = environment["BUCKET_SECRET"] {
///     images.bucketCredentials = BucketCredentials(accessKey: key, secret: secret)
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
