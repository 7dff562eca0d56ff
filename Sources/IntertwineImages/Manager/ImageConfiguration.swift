internal import Glibc
package import Logging

/// The configuration of the image proxy.
///
/// ```swift
/// var configuration = ImageConfiguration()
/// configuration.memoryBytes = 256 * 1_024 * 1_024
/// configuration.folder = "/var/cache/intertwine"
/// configuration.transformer = try ImageWorkers(ImageWorkers.Configuration())
/// ```
package struct ImageConfiguration: Sendable {
    /// The maximum of bytes of cached images in memory.
    package var memoryBytes = 64 * 1_024 * 1_024
    /// The folder of the disk cache; nil for none. `diskBytes` is its maximum size.
    package var folder: String?
    /// The maximum of bytes of cached images on disk.
    package var diskBytes = 2 * 1_024 * 1_024 * 1_024
    /// The memory budget in bytes of all running downloads together.
    package var bufferBytes = 128 * 1_024 * 1_024
    /// The maximum number of concurrent downloads, in total and per host. `queue` and `queueTimeout` limit the waiting ones.
    package var downloads = 64
    /// The maximum number of concurrent downloads from one host.
    package var downloadsPerHost = 6
    /// The maximum number of waiting downloads. Beyond it, requests fail with `overloaded`.
    package var queue = 256
    /// The maximum wait of a download. After it, its requests fail with `queueTimeout`.
    package var queueTimeout: Duration = .seconds(2)
    /// The time for which a download without waiters continues, for example if a user scrolls back.
    package var grace: Duration = .milliseconds(100)
    /// The limits of one download.
    package var limits = FetchLimits()
    /// The freshness limits of hosts that ``hostFreshness`` does not contain.
    package var freshness = FreshnessPolicy()
    /// The freshness limits of certain hosts; the first match applies.
    package var hostFreshness: [HostFreshness] = []
    /// The local sources of images by URL prefix; the first match applies.
    ///
    /// ```swift
    /// let prefix = try FetchURL("https://images.example.com/")
    /// if let folder = SandboxedDirectory("/srv/images"), let source = ImageSource(prefix: prefix, store: .folder(folder)) {
    ///     configuration.sources = [source]
    /// }
    /// ```
    package var sources: [ImageSource] = []
    /// The transformer that resizes images; nil to serve all of them unchanged.
    package var transformer: (any ImageTransformer)?
    /// Returns the bytes of an image that is bundled with the program; nil for images that are fetched from an origin.
    ///
    /// ```swift
    /// let logos = ["https://example.com/logo.png": try Array(Data(contentsOf: URL(filePath: "logo.png")))]
    /// configuration.bundled = { source in logos[source] }
    /// ```
    package var bundled: @Sendable (_ source: String) -> [UInt8]? = { _ in nil }
    /// The fallbacks for unavailable images by part name.
    ///
    /// ```swift
    /// configuration.fallbacks["cover"] = try Array(Data(contentsOf: URL(filePath: "cover.png")))
    /// ```
    package var fallbacks: [String: [UInt8]] = [:]
    /// The output formats among AVIF and WebP, the preferred one first.
    package var formats: [ImageFormat] = [.avif, .webp]
    /// The encoding qualities of resized images.
    package var qualities = EncodingQualities()
    /// The table for the metadata of decoded images; nil for none.
    package var facts: ImageMetadataTable?
    /// The logger of downloads and caches.
    package var logger = Logger(label: "intertwine.images")
    /// The memory of a worker in bytes. It determines the largest originals, and equals that of the transformer's workers.
    package var workerMemory = 1 << 30
    /// Returns seconds since 1970. Tests replace it.
    package var clock: @Sendable () -> Int64 = { Int64(time(nil)) }

    /// Creates a configuration with the default values: a cache in memory only, without resizing.
    package init() {}
}
