internal import Glibc
public import IntertwineFetch
public import Logging

/// What the operator decides about pictures.
public struct ImageConfiguration: Sendable {
    /// Bytes of finished pictures in memory.
    public var memoryBytes = 64 * 1_024 * 1_024
    /// Where pictures are kept on disk; nil for not at all. And how many bytes of them.
    public var folder: String?
    public var diskBytes = 2 * 1_024 * 1_024 * 1_024
    /// Bytes that all downloads under way may hold together.
    public var bufferBytes = 128 * 1_024 * 1_024
    /// Downloads at once, in all and from one host; how many more may wait, and how long.
    public var downloads = 64
    public var downloadsPerHost = 6
    public var queue = 256
    public var patience: Duration = .seconds(2)
    /// How long a download that nobody waits for any more is kept for somebody who scrolls back.
    public var grace: Duration = .milliseconds(100)
    public var limits = FetchLimits()
    public var freshness = FreshnessPolicy()
    /// Bounds for certain hosts instead; the first that fits counts.
    public var hostFreshness: [HostFreshness] = []
    /// Pictures that are not asked for at their URLs; the first that fits counts.
    public var places: [PicturePlace] = []
    public var logger = Logger(label: "intertwine.images")
    public var userAgent = "Intertwine"
    /// Seconds since 1970. Tests set it.
    public var clock: @Sendable () -> Int64 = { Int64(time(nil)) }

    public init() {}
}
