internal import Glibc

/// Files and folders that the service creates for itself in a folder that may belong to a group.
/// If the group may write in the folder, it gets the same access to them: platforms such as OpenShift start the next process with another
/// user and the same group.
package enum OwnedFile {
    package static func mode(at path: String) -> UInt32 { 0o600 | groupPermissions(of: folder(of: path)) & 0o060 }

    /// The mode does not depend on the umask.
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

    package static func makeFolder(_ path: String) -> Bool {
        guard mkdir(path, 0o700) == 0 else { return false }
        let group = groupPermissions(of: folder(of: path))
        if group != 0 { chmod(path, 0o700 | group) }
        return true
    }

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
