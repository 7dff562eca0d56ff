internal import Glibc

/// Files and folders that the service creates for itself in a folder that may belong to a group.
///
/// They are private to their owner. If the group may write in the folder, it gets the same access to them: platforms such as OpenShift start the next
/// process with another user and the same group.
package enum OwnedFile {
    /// Returns the mode for a new file at a path: 0600, with the folder's permissions for its group if the group can write there.
    package static func mode(at path: String) -> UInt32 { 0o600 | groupPermissions(of: folder(of: path)) & 0o060 }

    /// Opens a file, and creates it if it is missing. The mode does not depend on the umask.
    ///
    /// - Parameter flags: As for open(2). `O_CREAT` and `O_CLOEXEC` are added.
    /// - Returns: The descriptor, or -1 with `errno`.
    package static func open(_ path: String, _ flags: Int32) -> Int32 {
        let flags = flags | O_CREAT | O_CLOEXEC
        let made = Glibc.open(path, flags | O_EXCL, 0o600)
        guard made < 0 else {
            let mode = mode(at: path)
            if mode != 0o600 { fchmod(made, mode) }
            return made
        }
        guard errno == EEXIST, flags & O_EXCL == 0 else { return -1 }
        return Glibc.open(path, flags, 0o600)
    }

    /// Creates a folder with mode 0700, and with the group's permissions of its own folder if the group can write there.
    ///
    /// - Returns: False with `errno` if it is not created, or exists.
    package static func makeFolder(_ path: String) -> Bool {
        guard mkdir(path, 0o700) == 0 else { return false }
        let group = groupPermissions(of: folder(of: path))
        if group != 0 { chmod(path, 0o700 | group) }
        return true
    }

    /// Returns the current error of a file, after a refusal with the users involved.
    package static func reason(_ path: String) -> String {
        let error = errno
        let text = String(cString: strerror(error))
        guard error == EACCES || error == EPERM else { return text }
        var facts = stat()
        // The file itself, or else the nearest folder above it.
        var place = path
        while stat(place, &facts) != 0 {
            guard place != "/", place != "." else { return text }
            place = folder(of: place)
        }
        let mode = String(facts.st_mode & 0o7777, radix: 8)
        return
            "\(text): \(place) belongs to uid \(facts.st_uid) and gid \(facts.st_gid), mode \(mode); this process has uid \(geteuid()) and gid \(getegid())"
    }

    /// The permissions for the group, and the bit that passes the group on; 0 if the group cannot write.
    private static func groupPermissions(of folder: String) -> mode_t {
        var facts = stat()
        guard stat(folder, &facts) == 0, facts.st_mode & 0o020 != 0 else { return 0 }
        return facts.st_mode & (0o070 | S_ISGID)
    }

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}
