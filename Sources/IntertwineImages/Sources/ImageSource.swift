internal import CIntertwineLinux
internal import Glibc
internal import IntertwinePrimitives

/// A mapping of a URL prefix to a local folder or an S3 bucket, from which its images are read instead.
package struct ImageSource: Sendable {
    package enum Store: Sendable {
        case folder(SandboxedDirectory)
        case bucket(S3Bucket)
    }

    enum ResolvedSource: Sendable {
        case file(SandboxedDirectory, name: String)
        case object(S3Bucket, FetchURL)
    }

    private let prefix: String
    private let store: Store

    /// It must end with a slash and must not contain a query.
    package init?(prefix: FetchURL, store: Store) {
        guard prefix.text.hasSuffix("/"), !prefix.text.contains("?") else { return nil }
        self.prefix = prefix.text
        self.store = store
    }

    func found(_ url: FetchURL) throws(FetchError) -> ResolvedSource? {
        guard url.text.hasPrefix(prefix) else { return nil }
        let rest = url.text.dropFirst(prefix.count).prefix { $0 != "?" }
        let segments = rest.split(separator: "/", omittingEmptySubsequences: false)
        let names = segments.compactMap { PercentCoding.decode($0) }
        // Segments are decoded once; dot segments, slashes and NUL bytes within a segment are rejected.
        guard names.count == segments.count, names.allSatisfy({ ![".", ".."].contains($0) && !$0.contains("/") && !$0.utf8.contains(0) })
        else { throw .malformedURL }
        let name = names.joined(separator: "/")
        guard !name.isEmpty else { throw .malformedURL }
        switch store {
        case .folder(let folder):
            guard !names.contains("") else { throw .malformedURL }
            return .file(folder, name: name)
        // An object key is a single name and may contain consecutive slashes.
        case .bucket(let bucket): return .object(bucket, try bucket.url(of: name))
        }
    }
}

package struct SandboxedDirectory: Sendable, Hashable {
    enum AccessError: Error, Hashable {
        case notFound
        case tooLarge
        case denied
    }

    struct File: Sendable {
        let bytes: [UInt8]
        /// The modification time in seconds since 1970.
        let modified: Int64
        let tag: String
    }

    private let path: String

    package init?(_ path: String) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { return nil }
        self.path = path
    }

    /// The folder is opened for each call, because it may be replaced as a whole.
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
    /// Creates the error that the status of an origin would cause.
    init(_ failure: SandboxedDirectory.AccessError) {
        switch failure {
        case .notFound: self.init(.upstream(status: 404))
        case .denied: self.init(.upstream(status: 403))
        case .tooLarge: self.init(.fetch(.bodyTooLarge))
        }
    }
}
