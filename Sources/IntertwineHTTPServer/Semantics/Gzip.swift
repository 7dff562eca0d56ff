internal import CIntertwineDeflate
internal import Synchronization

/// The gzip coding (RFC 1952) of bytes that are all there.
enum Gzip {
    /// Below this many bytes the coding saves nothing that a packet would notice.
    private static let minimumLength = 1024

    /// Compressors that wait for work. To make one costs more than to compress a page.
    private static let idle = Mutex<[GzipCompressor]>([])
    private static let idleLimit = 16

    /// The coded bytes; nil if they would not be fewer, or there is no memory.
    ///
    /// - Parameter level: 1 (fast) to 9 (small).
    static func compress(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
        guard bytes.count >= minimumLength else { return nil }
        let kept = idle.withLock { idle in idle.lastIndex { $0.level == level }.map { idle.remove(at: $0) } }
        guard let compressor = kept ?? GzipCompressor(level: level) else { return nil }
        defer {
            idle.withLock { idle in
                if idle.count < idleLimit { idle.append(compressor) }
            }
        }
        return compressor.compress(bytes)
    }
}

/// A compressor of one level.
///
/// `@unchecked Sendable`: it is in the hands of one thread at a time, as ``Gzip`` takes it off the list of those that are idle.
private final class GzipCompressor: @unchecked Sendable {
    /// Bytes of memory that stay with a compressor that has no work.
    private static let keptLimit = 256 << 10

    let level: Int32
    private let compressor: OpaquePointer
    private var output = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    /// Nil if there is no memory.
    init?(level: Int32) {
        guard let compressor = libdeflate_alloc_compressor(level) else { return nil }
        (self.level, self.compressor) = (level, compressor)
    }

    deinit {
        libdeflate_free_compressor(compressor)
        output.deallocate()
    }

    func compress(_ bytes: [UInt8]) -> [UInt8]? {
        if output.count < bytes.count {
            output.deallocate()
            output = .allocate(byteCount: bytes.count, alignment: 16)
        }
        defer {
            if output.count > Self.keptLimit {
                output.deallocate()
                output = UnsafeMutableRawBufferPointer(start: nil, count: 0)
            }
        }
        // Fewer bytes than came, or none.
        let count = bytes.withUnsafeBytes {
            libdeflate_gzip_compress(compressor, $0.baseAddress, $0.count, output.baseAddress, bytes.count - 1)
        }
        return count == 0 ? nil : Array(UnsafeRawBufferPointer(rebasing: output[..<count]))
    }
}
