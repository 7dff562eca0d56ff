internal import Glibc
package import Logging

package struct ImageConfiguration: Sendable {
    package var memoryBytes = 64 * 1_024 * 1_024
    package var folder: String?
    package var diskBytes = 2 * 1_024 * 1_024 * 1_024
    package var bufferBytes = 128 * 1_024 * 1_024
    package var downloads = 64
    package var downloadsPerHost = 6
    package var queue = 256
    package var queueTimeout: Duration = .seconds(2)
    package var grace: Duration = .milliseconds(100)
    package var limits = FetchLimits()
    package var freshness = FreshnessPolicy()
    package var hostFreshness: [HostFreshness] = []
    package var sources: [ImageSource] = []
    package var transformer: (any ImageTransformer)?
    package var bundled: @Sendable (_ source: String) -> [UInt8]? = { _ in nil }
    package var fallbacks: [String: [UInt8]] = [:]
    package var formats: [ImageFormat] = [.avif, .webp]
    package var qualities = EncodingQualities()
    package var facts: ImageMetadataTable?
    package var logger = Logger(label: "intertwine.images")
    package var workerMemory = 1 << 30
    package var clock: @Sendable () -> Int64 = { Int64(time(nil)) }

    package init() {}
}
