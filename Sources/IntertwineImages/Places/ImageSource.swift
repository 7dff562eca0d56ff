internal import CIntertwineLinux
internal import Glibc
public import IntertwineFetch
internal import IntertwinePrimitives

/// Where the pictures below a URL lie, if the URL itself is not asked: in a folder of this machine, or in a bucket.
public struct ImageSource: Sendable {
    public enum Store: Sendable {
        case folder(SandboxedDirectory)
        case bucket(S3Bucket)
    }

    /// One picture's place.
    enum ResolvedSource: Sendable {
        case file(SandboxedDirectory, name: String)
        case object(S3Bucket, FetchURL)
    }

    private let prefix: String
    private let store: Store

    /// - Parameter prefix: ends with a slash; a query in it would never match.
    public init?(prefix: FetchURL, store: Store) {
        guard prefix.text.hasSuffix("/"), !prefix.text.contains("?") else { return nil }
        self.prefix = prefix.text
        self.store = store
    }

    /// Nil for URLs that do not lie below the prefix; a failure for those that do and name nothing there. A query is of no interest.
    func found(_ url: FetchURL) throws(FetchError) -> ResolvedSource? {
        guard url.text.hasPrefix(prefix) else { return nil }
        let rest = url.text.dropFirst(prefix.count).prefix { $0 != "?" }
        let segments = rest.split(separator: "/", omittingEmptySubsequences: false)
        let names = segments.compactMap { PercentCoding.decode($0) }
        // Decoded once, and nothing that would be a step anywhere.
        guard names.count == segments.count, names.allSatisfy({ ![".", ".."].contains($0) && !$0.contains("/") && !$0.utf8.contains(0) })
        else { throw .malformedURL }
        let name = names.joined(separator: "/")
        guard !name.isEmpty else { throw .malformedURL }
        switch store {
        case .folder(let folder):
            guard !names.contains("") else { throw .malformedURL }
            return .file(folder, name: name)
        // The key of an object is one name, in which slashes may follow each other.
        case .bucket(let bucket): return .object(bucket, try bucket.url(of: name))
        }
    }
}

/// A folder of this machine from which files are read, and none from anywhere else: no `..`, and no symbolic link leads out of it or on in it.
public struct SandboxedDirectory: Sendable, Hashable {
    enum AccessError: Error, Hashable {
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
    func read(_ name: String, limit: Int) throws(AccessError) -> File {
        guard !name.isEmpty, !name.utf8.contains(0) else { throw .notFound }
        let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw .notFound }
        defer { close(folder) }
        let descriptor = clinux_open_beneath(folder, name)
        guard descriptor >= 0 else { throw [-ENOENT, -ENOTDIR, -ENAMETOOLONG].contains(descriptor) ? .notFound : .denied }
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

extension ImageError {
    /// As an origin would have said it.
    init(_ failure: SandboxedDirectory.AccessError) {
        switch failure {
        case .notFound: self.init(.upstream(status: 404))
        case .denied: self.init(.upstream(status: 403))
        case .tooLarge: self.init(.fetch(.bodyTooLarge))
        }
    }
}
