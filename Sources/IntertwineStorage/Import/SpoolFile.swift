import Glibc
import IntertwineFeed

/// Items in the order in which they came, in memory while they are few, and else in a file beside the store that has no name: it is gone with
/// whoever has it open, whatever ends the process. It is read once, and never has to survive anything.
///
/// Not `Sendable`: one caller at a time, and its calls block.
final class SpoolFile {
    /// Bytes that are written, and read, at once.
    private static let pieceSize = 1 << 18

    private let store: String
    private var descriptor: Int32 = -1
    /// What is not in the file.
    private var tail: [UInt8] = []

    /// - Parameter store: the path of what the items are for.
    init(beside store: String) {
        self.store = store
    }

    deinit {
        closeFile()
    }

    /// - Throws: `StoreError.unavailable` where the disk takes no more.
    func append(_ batch: [ValidatedItem]) throws(StoreError) {
        for item in batch { StagedItem.append(item, to: &tail) }
        if tail.count >= Self.pieceSize { try flush() }
    }

    /// Gives all of it in the order in which it came, and keeps nothing.
    ///
    /// - Throws: what `take` throws, `StoreError.unavailable` where the file cannot be read.
    func drain(inBatchesOf size: Int, _ take: ([ValidatedItem]) throws -> Void) throws {
        var batch: [ValidatedItem] = []
        func takeAll(of bytes: inout [UInt8]) throws {
            var start = 0
            while let item = StagedItem.next(in: bytes, at: &start) {
                batch.append(item)
                guard batch.count == size else { continue }
                try take(batch)
                batch.removeAll(keepingCapacity: true)
            }
            bytes.removeSubrange(..<start)
        }
        if descriptor >= 0 {
            guard lseek(descriptor, 0, SEEK_SET) == 0 else { throw failure() }
            var bytes: [UInt8] = []
            while try read(into: &bytes) { try takeAll(of: &bytes) }
            closeFile()
        }
        try takeAll(of: &tail)
        if !batch.isEmpty { try take(batch) }
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

    /// False at the end.
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
        descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure() }
        unlink(path)
    }

    private func closeFile() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    private func failure() -> StoreError {
        let reason = errno == ENOSPC ? "the disk is full" : "items cannot be kept beside it: \(String(cString: strerror(errno)))"
        return .unavailable("\(store): \(reason); nothing was imported")
    }
}

/// An item as it stands in a stage: its lane, the lengths of its four parts, and those.
private enum StagedItem {
    private static let headSize = 8 + 4 * 4

    static func append(_ item: ValidatedItem, to bytes: inout [UInt8]) {
        func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) } }
        append(item.stream.rawValue)
        // What an import takes is far from 4 GiB an item.
        for length in [item.kind.utf8.count, item.id.utf8.count, item.variant.utf8.count, item.body.count] { append(UInt32(length)) }
        for text in [item.kind, item.id, item.variant] { bytes.append(contentsOf: text.utf8) }
        bytes.append(contentsOf: item.body)
    }

    /// Nil where no whole item stands there.
    static func next(in bytes: [UInt8], at start: inout Int) -> ValidatedItem? {
        bytes.withUnsafeBytes { bytes in
            guard bytes.count - start >= headSize else { return nil }
            let lane = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: Int64.self))
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
                kind: String(decoding: part(0), as: UTF8.self), stream: StreamID(rawValue: lane),
                id: String(decoding: part(1), as: UTF8.self),
                variant: String(decoding: part(2), as: UTF8.self), body: Array(part(3)))
        }
    }
}
