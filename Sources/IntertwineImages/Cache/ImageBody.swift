internal import CIntertwineLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// The bytes of a picture: an array where they are few, else a file in memory, out of which they can be sent without being copied.
public struct ImageBody: Sendable {
    /// From so many bytes on the kernel takes the pages of a file for less than it takes to copy them.
    static let leastInFile = 64 * 1_024

    private enum Storage: Sendable {
        case array([UInt8])
        case file(MemoryFile)
    }

    private let storage: Storage

    init(_ bytes: [UInt8]) {
        storage = bytes.count >= Self.leastInFile ? MemoryFile(bytes).map { .file($0) } ?? .array(bytes) : .array(bytes)
    }

    /// Returns when the pages of all large ones so far lie as well as they will.
    static func waitForGathering() { MemoryFile.gathering.sync {} }

    public var count: Int {
        switch storage {
        case .array(let bytes): bytes.count
        case .file(let file): file.count
        }
    }

    /// All of them; a copy where they lie in a file.
    public var bytes: [UInt8] {
        switch storage {
        case .array(let bytes): bytes
        case .file(let file): file.bytes
        }
    }

    /// The file that they lie in, and are all of; nil where they lie in none. It stays open for as long as its owner is there.
    public var file: (descriptor: Int32, owner: any AnyObject & Sendable)? {
        if case .file(let file) = storage { (file.descriptor, file) } else { nil }
    }
}

/// A file in memory, of which there is one for each large picture that is kept or being sent. Nobody can change it.
private final class MemoryFile: Sendable {
    /// How many there may be: descriptors are for clients, above all. Pictures beyond that are kept as arrays.
    private static let most: Int = {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return min(1_024, Int(clamping: limit.rlim_cur) / 32)
    }()
    private static let open = Atomic<Int>(0)
    /// Bytes from which on it can have a large page: to send one of these costs half as much. They are not to be had at once where memory is
    /// short or in pieces, so no loop waits for them.
    private static let leastGathered = 2 << 20
    fileprivate static let gathering = DispatchQueue(label: "intertwine.images.pages", qos: .utility)

    let descriptor: Int32
    let count: Int

    /// Nil where there are enough of them, or the system gives none.
    init?(_ bytes: [UInt8]) {
        guard Self.open.add(1, ordering: .relaxed).newValue <= Self.most else {
            Self.open.subtract(1, ordering: .relaxed)
            return nil
        }
        descriptor = bytes.withUnsafeBytes { clinux_memory_file($0.baseAddress, $0.count) }
        count = bytes.count
        guard descriptor >= 0 else {
            Self.open.subtract(1, ordering: .relaxed)
            return nil
        }
        guard count >= Self.leastGathered else { return }
        // It is sent all the same where there are none.
        Self.gathering.async { [self] in _ = clinux_gather_pages(descriptor, count) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        Self.open.subtract(1, ordering: .relaxed)
    }

    var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let more = pread(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled, off_t(filled))
                if more < 0, errno == EINTR { continue }
                guard more > 0 else { return }
                filled += more
            }
        }
    }
}
