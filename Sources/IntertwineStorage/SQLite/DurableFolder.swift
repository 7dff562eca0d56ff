import Glibc

/// The folder that a file stands in. A file is there after a power cut where its folder was synced after it was made, linked or renamed; its
/// own sync promises its content alone.
public enum DurableFolder {
    /// Has the names in the folder of a file be on disk.
    ///
    /// - Returns: false where the disk does not take it, and `errno` tells why.
    public static func sync(of file: String) -> Bool {
        let end = file.lastIndex(of: "/")
        let folder = end.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
        return syncContent(of: folder)
    }

    /// Has the content of a file, or the names in a folder, be on disk.
    static func syncContent(of path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return fsync(descriptor) == 0
    }
}
