internal import CIntertwineDeflate
internal import Synchronization

/// The gzip coding (RFC 1952) of complete content.
enum Gzip {
    private static let minimumLength = 1024

    /// Creating one costs more than compressing a page.
    private static let idle = Mutex<[GzipCompressor]>([])
    private static let idleLimit = 16

    static func compress(_ bytes: [UInt8], level: Int32) -> [UInt8]? {
        guard bytes.count >= minimumLength else { return nil }
        let processor = cdeflate_processor()
        let reused = idle.withLock { idle in
            let index = idle.lastIndex { $0.level == level && $0.processor == processor }
            // Another processor's compressor is taken only if no further one may be created.
            return (index ?? (idle.count < idleLimit ? nil : idle.lastIndex { $0.level == level })).map { idle.remove(at: $0) }
        }
        guard let compressor = reused ?? GzipCompressor(level: level) else { return nil }
        compressor.processor = processor
        defer {
            idle.withLock { idle in
                if idle.count < idleLimit { idle.append(compressor) }
            }
        }
        return compressor.compress(bytes)
    }
}

/// `@unchecked Sendable`: one thread uses it at a time, because ``Gzip`` removes it from the list of idle compressors during use.
private final class GzipCompressor: @unchecked Sendable {
    private static let idleByteLimit = 256 << 10

    let level: Int32
    /// Why: a compressor writes more than 128 KiB for each page. Moving them from another processor's cache takes half as long as
    /// compressing.
    var processor: Int32 = -1
    private let compressor: OpaquePointer
    private var output = UnsafeMutableRawBufferPointer(start: nil, count: 0)

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
