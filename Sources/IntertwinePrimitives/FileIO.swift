internal import Glibc

package enum FileIO {
    package static func read(_ descriptor: Int32, _ count: Int, at offset: Int = 0) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let more = pread(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(offset + filled))
                if more < 0, errno == EINTR { continue }
                guard more > 0 else { return }
                filled += more
            }
        }
    }

    package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
        var written = 0
        while written < bytes.count {
            let more = Glibc.write(descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            if more < 0, errno == EINTR { continue }
            if more == 0 { errno = ENOSPC }
            guard more > 0 else { break }
            written += more
        }
        return written
    }
}
