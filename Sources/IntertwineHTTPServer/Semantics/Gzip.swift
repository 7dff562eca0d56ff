internal import CIntertwineDeflate
internal import Synchronization

/// A compressor of complete content by the gzip coding (RFC 1952).
/// `@unchecked Sendable`: one thread uses it at a time, because it is removed from the list of idle compressors during use.
final class Gzip: @unchecked Sendable {
    private static let minimumLength = 1024

    /// Creating one costs more than compressing a page.
    private static let idle = Mutex<[Gzip]>([])
    private static let idleLimit = 16
    private static let idleByteLimit = 256 << 10

    private let level: Int32
    /// Why: a compressor writes more than 128 KiB for each page. Moving them from another processor's cache takes half as long as
    /// compressing.
    private var processor: Int32 = -1
    private let compressor: OpaquePointer
    private var output = UnsafeMutableRawBufferPointer(start: nil, count: 0)

    private init?(level: Int32) {
        guard let compressor = libdeflate_alloc_compressor(level) else { return nil }
        (self.level, self.compressor) = (level, compressor)
    }

    deinit {
        libdeflate_free_compressor(compressor)
        output.deallocate()
    }

    static func compress(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
        guard bytes.count >= minimumLength else { return nil }
        let processor = cdeflate_processor()
        let reused = idle.withLock { idle in
            let index = idle.lastIndex { $0.level == level && $0.processor == processor }
            // Another processor's compressor is taken only if no further one may be created.
            return (index ?? (idle.count < idleLimit ? nil : idle.lastIndex { $0.level == level })).map { idle.remove(at: $0) }
        }
        guard let compressor = reused ?? Gzip(level: level) else { return nil }
        compressor.processor = processor
        defer {
            idle.withLock { idle in
                if idle.count < idleLimit { idle.append(compressor) }
            }
        }
        return compressor.compress(bytes)
    }

    private func compress(_ bytes: [UInt8]) -> [UInt8]? {
        if output.count < bytes.count {
            output.deallocate()
            output = .allocate(byteCount: bytes.count, alignment: 16)
        }
        defer {
            if output.count > Self.idleByteLimit {
                output.deallocate()
                output = UnsafeMutableRawBufferPointer(start: nil, count: 0)
            }
        }
        // The output is accepted only if it has fewer bytes than the input.
        let count = bytes.withUnsafeBytes {
            libdeflate_gzip_compress(compressor, $0.baseAddress, $0.count, output.baseAddress, bytes.count - 1)
        }
        return count == 0 ? nil : Array(UnsafeRawBufferPointer(rebasing: output[..<count]))
    }
}
