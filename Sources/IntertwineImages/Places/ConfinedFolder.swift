internal import CIntertwineLinux
internal import Glibc

/// A folder of this machine from which files are read, and none from anywhere else: no `..`, and no symbolic link leads out of it or on in it.
public struct ConfinedFolder: Sendable, Hashable {
    enum Failure: Error, Hashable {
        case notFound
        /// Larger than what is passed on.
        case tooLarge
        /// A link, a folder, a device, or what we may not read.
        case denied
    }

    struct File: Sendable {
        let bytes: [UInt8]
        /// Seconds since 1970 of its last change.
        let modified: Int64
        /// Another one for each change that can be told.
        let tag: String
    }

    private let path: String

    /// Nil for what is no absolute path.
    public init?(_ path: String) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { return nil }
        self.path = path
    }

    /// Blocks. The folder itself is looked up each time: it may be replaced as a whole.
    /// - Parameter name: relative, in no encoding.
    func read(_ name: String, limit: Int) throws(Failure) -> File {
        guard !name.isEmpty, !name.utf8.contains(0) else { throw .notFound }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .notFound }
        defer { close(folder) }
        let descriptor = clinux_open_beneath(folder, name)
        guard descriptor >= 0 else { throw descriptor == -ENOENT || descriptor == -ENOTDIR ? .notFound : .denied }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { throw .denied }
        let size = Int(facts.st_size)
        guard size <= limit else { throw .tooLarge }
        guard let bytes = FileBytes.read(descriptor, size) else { throw .denied }
        let tag = "\"\(facts.st_ino)-\(size)-\(facts.st_mtim.tv_sec).\(facts.st_mtim.tv_nsec)\""
        return File(bytes: bytes, modified: Int64(facts.st_mtim.tv_sec), tag: tag)
    }
}
