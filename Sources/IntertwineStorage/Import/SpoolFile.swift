import Glibc
internal import IntertwineFeed
internal import IntertwinePrimitives

/// A buffer of items in order of arrival: in memory for few items, and otherwise in an unnamed file beside the store.
/// The file has no directory entry, so it is removed when the process ends for any reason. Not `Sendable`: one caller at a time, and its
/// calls block.
final class SpoolFile {
    private static let pieceSize = 1 << 18

    private let store: String
    private var descriptor: Int32 = -1
    private var tail: [UInt8] = []

    init(nextTo store: String) {
        self.store = store
    }

    deinit {
        closeFile()
    }

    func append(_ batch: [ValidatedItem]) throws(StoreError) {
        for item in batch { StagedItem.append(item, to: &tail) }
        if tail.count >= Self.pieceSize { try flush() }
    }

    func drain(inBatchesOf size: Int, _ onBatch: ([ValidatedItem]) throws -> Void) throws {
        var batch: [ValidatedItem] = []
        func readAll(of bytes: inout [UInt8]) throws {
            var start = 0
            while let item = StagedItem.next(in: bytes, at: &start) {
                batch.append(item)
                guard batch.count == size else { continue }
                try onBatch(batch)
                batch.removeAll(keepingCapacity: true)
            }
            bytes.removeSubrange(..<start)
        }
        if descriptor >= 0 {
            guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw failure() }
            var bytes: [UInt8] = []
            while try read(into: &bytes) { try readAll(of: &bytes) }
            closeFile()
        }
        try readAll(of: &tail)
        if !batch.isEmpty { try onBatch(batch) }
    }

    private func flush() throws(StoreError) {
        if descriptor < 0 { try open() }
        var start = 0
        while start < tail.count {
            let count = tail.withUnsafeBytes { write(descriptor, $0.baseAddress?.advanced(by: start), $0.count - start) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure() }
            start += count
        }
        tail.removeAll(keepingCapacity: true)
    }

    private func read(into bytes: inout [UInt8]) throws(StoreError) -> Bool {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: Self.pieceSize))
        var count: Int
        repeat {
            count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress?.advanced(by: start), Self.pieceSize) }
        } while count < 0 && errno == EINTR
        guard count >= 0 else { throw failure() }
        bytes.removeSubrange((start + count)...)
        return count > 0
    }

    private func open() throws(StoreError) {
        let path = "\(store).import-" + String(UInt64.random(in: .min ... .max), radix: 36)
        descriptor = OwnedFile.open(path, O_RDWR | O_EXCL)
        guard descriptor >= 0 else { throw failure() }
        unlink(path)
    }

    private func closeFile() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    private func failure() -> StoreError {
        let reason = errno == ENOSPC ? "the disk is full" : "items cannot be stored in its folder: \(OwnedFile.reason(store))"
        return .unavailable("\(store): \(reason); nothing was imported")
    }
}

/// The encoding of an item in the buffer: its stream, the lengths of its four parts, and the parts.
private enum StagedItem {
    private static let headSize = 8 + 4 * 4

    static func append(_ item: ValidatedItem, to bytes: inout [UInt8]) {
        func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) } }
        append(item.stream.rawValue)
        // The limit of an item's size in an import is far below 4 GiB.
        for length in [item.kind.utf8.count, item.id.utf8.count, item.variant.utf8.count, item.body.count] { append(UInt32(length)) }
        for text in [item.kind, item.id, item.variant] { bytes.append(contentsOf: text.utf8) }
        bytes.append(contentsOf: item.body)
    }

    static func next(in bytes: [UInt8], at start: inout Int) -> ValidatedItem? {
        bytes.withUnsafeBytes { bytes in
            guard bytes.count - start >= headSize else { return nil }
            let stream = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int64.self))
            let lengths = (0..<4).map { number in
                Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start + 8 + 4 * number, as: UInt32.self)))
            }
            guard bytes.count - start - headSize >= lengths.reduce(0, +) else { return nil }
            start += headSize
            func part(_ number: Int) -> UnsafeRawBufferPointer {
                defer { start += lengths[number] }
                return UnsafeRawBufferPointer(rebasing: bytes[start..<start + lengths[number]])
            }
            return ValidatedItem(
                kind: String(decoding: part(0), as: UTF8.self), stream: StreamID(rawValue: stream),
                id: String(decoding: part(1), as: UTF8.self),
                variant: String(decoding: part(2), as: UTF8.self), body: Array(part(3)))
        }
    }
}
