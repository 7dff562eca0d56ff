internal import CIntertwineLinux
internal import Glibc
internal import IntertwinePrimitives

/// A mapping of a URL prefix to a local folder or an S3 bucket, from which its images are read instead.
package struct ImageSource: Sendable {
    /// The places from which images are read.
    package enum Store: Sendable {
        /// A local folder.
        case folder(SandboxedDirectory)
        /// A bucket of an S3 service.
        case bucket(S3Bucket)
    }

    /// The location of one image.
    enum ResolvedSource: Sendable {
        case file(SandboxedDirectory, name: String)
        case object(S3Bucket, FetchURL)
    }

    private let prefix: String
    private let store: Store

    /// Creates a mapping; nil if the prefix is invalid.
    ///
    /// ```swift
    /// let prefix = try FetchURL("https://images.example.com/")
    /// let bucket = S3Bucket(endpoint: try FetchURL("https://s3.example.com/images/"), region: "eu-central-1", credentials: nil)
    /// let source = ImageSource(prefix: prefix, store: .bucket(bucket))
    /// ```
    ///
    /// - Parameter prefix: The URL prefix. It must end with a slash and must not contain a query.
    package init?(prefix: FetchURL, store: Store) {
        guard prefix.text.hasSuffix("/"), !prefix.text.contains("?") else { return nil }
        self.prefix = prefix.text
        self.store = store
    }

    /// Returns the location of a URL, whose query is ignored; nil if the URL does not begin with the prefix.
    ///
    /// - Throws: `malformedURL` if the URL has the prefix but names no valid path below it.
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

/// A local folder whose files can be read. Neither `..` nor symbolic links can leave the folder, and links within it are not followed.
package struct SandboxedDirectory: Sendable, Hashable {
    enum AccessError: Error, Hashable {
        case notFound
        /// The file is larger than the limit.
        case tooLarge
        /// The path is a symbolic link, a folder or a device, or its permissions deny access.
        case denied
    }

    struct File: Sendable {
        let bytes: [UInt8]
        /// The modification time in seconds since 1970.
        let modified: Int64
        /// An entity tag that changes with each detectable modification.
        let tag: String
    }

    private let path: String

    /// Creates a folder; nil if the path is not absolute.
    ///
    /// ```swift
    /// SandboxedDirectory("/srv/images") == nil  // false
    /// SandboxedDirectory("images") == nil  // true
    /// ```
    package init?(_ path: String) {
        guard path.hasPrefix("/"), !path.utf8.contains(0) else { return nil }
        self.path = path
    }

    /// Reads a file. The call blocks. The folder is opened for each call, because it may be replaced as a whole.
    ///
    /// - Parameter name: The relative path, without percent-encoding.
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
