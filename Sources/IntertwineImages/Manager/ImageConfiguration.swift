internal import Glibc
public import IntertwineFetch
public import Logging

/// The configuration of the image proxy.
public struct ImageConfiguration: Sendable {
    /// The maximum of bytes of cached images in memory.
    public var memoryBytes = 64 * 1_024 * 1_024
    /// The folder of the disk cache; nil for none. `diskBytes` is its maximum size.
    public var folder: String?
    public var diskBytes = 2 * 1_024 * 1_024 * 1_024
    /// The memory budget in bytes of all running downloads together.
    public var bufferBytes = 128 * 1_024 * 1_024
    /// The maximum number of concurrent downloads, in total and per host. `queue` and `queueTimeout` limit the waiting ones.
    public var downloads = 64
    public var downloadsPerHost = 6
    public var queue = 256
    public var queueTimeout: Duration = .seconds(2)
    /// The time for which a download without waiters continues, for example if a user scrolls back.
    public var grace: Duration = .milliseconds(100)
    public var limits = FetchLimits()
    public var freshness = FreshnessPolicy()
    /// The freshness limits of certain hosts; the first match applies.
    public var hostFreshness: [HostFreshness] = []
    /// The local sources of images by URL prefix; the first match applies.
    public var sources: [ImageSource] = []
    /// The transformer that resizes images; nil to serve all of them unchanged.
    public var transformer: (any ImageTransformer)?
    /// Returns the bytes of an image that is bundled with the program; nil for images that are fetched from an origin.
    public var bundled: @Sendable (_ source: String) -> [UInt8]? = { _ in nil }
    /// The fallbacks for unavailable images by part name; empty bytes mean initials.
    public var fallbacks: [String: [UInt8]] = [:]
    /// The output formats among AVIF and WebP, the preferred one first.
    public var formats: [ImageFormat] = [.avif, .webp]
    public var qualities = EncodingQualities()
    /// The table for the metadata of decoded images; nil for none.
    public var facts: ImageMetadataTable?
    public var logger = Logger(label: "intertwine.images")
    public var userAgent = "Intertwine"
    /// Returns seconds since 1970. Tests replace it.
    public var clock: @Sendable () -> Int64 = { Int64(time(nil)) }

    public init() {}
}
