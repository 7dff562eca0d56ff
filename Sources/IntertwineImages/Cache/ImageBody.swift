internal import CIntertwineLinux
internal import Dispatch
internal import Glibc
internal import IntertwinePrimitives
internal import Synchronization

package struct ImageBody: Sendable {
    /// The size in bytes from which a memory file is used. Above it, sending the pages of a file costs less than copying them.
    static let leastInFile = 64 * 1_024

    private enum Storage: Sendable {
        case array([UInt8])
        case file(MemoryFile)
    }

    private let storage: Storage

    init(_ bytes: [UInt8]) {
        storage = bytes.count >= Self.leastInFile ? MemoryFile(bytes).map { .file($0) } ?? .array(bytes) : .array(bytes)
    }

    static func waitForGathering() { MemoryFile.gathering.sync {} }

    package var count: Int {
        switch storage {
        case .array(let bytes): bytes.count
        case .file(let file): file.count
        }
    }

    package var bytes: [UInt8] {
        switch storage {
        case .array(let bytes): bytes
        case .file(let file): file.bytes
        }
    }

    package var file: (descriptor: Int32, owner: any AnyObject & Sendable)? {
        if case .file(let file) = storage { (file.descriptor, file) } else { nil }
    }
}

private final class MemoryFile: Sendable {
    /// The maximum number of memory files, because most descriptors are reserved for clients.
    private static let most: Int = {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 0 }
        return min(1_024, Int(clamping: limit.rlim_cur) / 32)
    }()
    private static let open = Atomic<Int>(0)
    /// The size in bytes from which huge pages are requested: sending them costs half as much. Why on a queue: if memory is short or
    /// fragmented, the kernel needs time for them, and no event loop may wait for that.
    private static let leastGathered = 2 << 20
    fileprivate static let gathering = DispatchQueue(label: "intertwine.images.pages", qos: .utility)

    let descriptor: Int32
    let count: Int

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
        // The file is sent in either case, also without huge pages.
        Self.gathering.async { [self] in _ = clinux_gather_pages(descriptor, count) }
    }

    deinit {
        guard descriptor >= 0 else { return }
        close(descriptor)
        Self.open.subtract(1, ordering: .relaxed)
    }

    var bytes: [UInt8] { FileIO.read(descriptor, count) }
}
