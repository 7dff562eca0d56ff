internal import Glibc

/// What tells that a file is another one than before.
struct FileStamp: Equatable {
    private let inode: UInt64
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// Nil where there is no file.
    init?(path: String) {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        seconds = Int64(status.st_mtim.tv_sec)
        nanoseconds = Int64(status.st_mtim.tv_nsec)
    }
}
