internal import Glibc

/// Bytes on their way out, gathered so that a batch of answers leaves in one call. Each loop has one and uses it over and over.
///
/// The body of the last answer is not copied but lent, as most answers leave alone: the kernel takes it from where it lies. Where more comes
/// behind it, it is copied after all.
final class OutputBuffer {
    /// Shorter bodies are copied at once, which costs less than a second stretch of memory costs the kernel.
    private static let shortest = 4 * 1024

    private var storage: UnsafeMutableRawPointer
    private var capacity: Int
    private var stored = 0
    /// What stands behind ``bytes``.
    private(set) var borrowedBody: (body: [UInt8], part: Range<Int>)?

    init(capacity: Int) {
        self.capacity = max(1024, capacity)
        self.storage = .allocate(byteCount: self.capacity, alignment: 16)
    }

    deinit {
        storage.deallocate()
    }

    /// All bytes, those that are lent among them.
    var count: Int { stored + (borrowedBody?.part.count ?? 0) }

    /// Those that lie here.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: storage, count: stored) }

    func clear() {
        stored = 0
        borrowedBody = nil
    }

    /// Takes what is lent out of here, for whoever sends it behind ``bytes``.
    func takeBorrowedBody() -> (body: [UInt8], part: Range<Int>)? {
        var taken: (body: [UInt8], part: Range<Int>)?
        swap(&taken, &borrowedBody)
        return taken
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        copyBorrowedBody()
        store(bytes)
    }

    /// A part of a body, which has to lie within it.
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
