internal import Glibc

/// Bytes on their way out, gathered so that a batch of answers leaves in one call. Each loop has one and uses it over and over.
final class OutputBuffer {
    private var storage: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(1024, capacity)
        self.storage = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: count) }

    func clear() { count = 0 }

    func append(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        if let source = bytes.baseAddress, bytes.count > 0 { memcpy(storage + count, source, bytes.count) }
        count += bytes.count
    }

    func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    /// Overwrites bytes that were appended before, as far as they lie in the buffer.
    func replace(at offset: Int, with bytes: UnsafeRawBufferPointer) {
        guard offset >= 0, offset + bytes.count <= count, let source = bytes.baseAddress else { return }
        memcpy(storage + offset, source, bytes.count)
    }

    private func reserve(_ more: Int) {
        let needed = count + more
        if needed <= capacity { return }
        let larger = max(needed, capacity * 2)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        memcpy(moved, storage, count)
        storage.deallocate()
        storage = moved
        capacity = larger
    }
}
