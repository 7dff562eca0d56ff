internal import Glibc

/// A buffer of outgoing bytes that gathers a batch of responses for one system call.
/// The body of the last response is borrowed and not copied, because most responses are sent alone: the kernel reads it from its own
/// memory.
final class OutputBuffer {
    private static let shortest = 4 * 1024

    private var storage: UnsafeMutableRawPointer
    private var capacity: Int
    private var stored = 0
    private(set) var borrowedBody: (body: [UInt8], part: Range<Int>)?

    init(capacity: Int) {
        self.capacity = max(1024, capacity)
        self.storage = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    var count: Int { stored + (borrowedBody?.part.count ?? 0) }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: stored) }

    func clear() {
        stored = 0
        borrowedBody = nil
    }

    func takeBorrowedBody() -> (body: [UInt8], part: Range<Int>)? {
        var borrowed: (body: [UInt8], part: Range<Int>)?
        swap(&borrowed, &borrowedBody)
        return borrowed
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        copyBorrowedBody()
        store(bytes)
    }

    /// The range must lie within it.
    func append(_ body: [UInt8], _ part: Range<Int>) {
        copyBorrowedBody()
        borrowedBody = (body, part)
        if part.count < Self.shortest { copyBorrowedBody() }
    }

    func append(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { append($0) }
    }

    func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    private func copyBorrowedBody() {
        guard let (body, part) = takeBorrowedBody() else { return }
        body.withUnsafeBytes { store(UnsafeRawBufferPointer(rebasing: $0[part])) }
    }

    private func store(_ bytes: UnsafeRawBufferPointer) {
        reserve(bytes.count)
        if let source = bytes.baseAddress, bytes.count > 0 { memcpy(storage + stored, source, bytes.count) }
        stored += bytes.count
    }

    private func reserve(_ more: Int) {
        let needed = stored + more
        if needed <= capacity { return }
        let larger = max(needed, capacity * 2)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
        memcpy(moved, storage, stored)
        storage.deallocate()
        storage = moved
        capacity = larger
    }
}
