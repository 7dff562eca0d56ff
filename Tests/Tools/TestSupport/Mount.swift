import Foundation
import Glibc

/// A mounted file system. Tests with one have the trait `mounts`.
public struct Mount {
    private let folder: String

    /// Whether this process may mount file systems.
    public static let isPossible: Bool = {
        let folder = "/tmp/intertwine-mount-\(UUID().uuidString.prefix(8))"
        guard mkdir(folder, 0o700) == 0 else { return false }
        defer { rmdir(folder) }
        guard let mount = try? small(folder, kibibytes: 64) else { return false }
        mount.remove()
        return true
    }()

    /// The folder over itself, read-only.
    public static func readOnly(_ folder: String) throws -> Mount {
        guard mount(folder, folder, nil, UInt(MS_BIND), nil) == 0 else { throw RawClientError.system("mount", errno) }
        let mounted = Mount(folder: folder)
        guard mount(nil, folder, nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0 else {
            let error = RawClientError.system("mount", errno)
            mounted.remove()
            throw error
        }
        return mounted
    }

    /// A disk in memory, of so many KiB.
    public static func small(_ folder: String, kibibytes: Int) throws -> Mount {
        guard mount("tmpfs", folder, "tmpfs", 0, "size=\(kibibytes)k") == 0 else { throw RawClientError.system("mount", errno) }
        return Mount(folder: folder)
    }

    public func remove() {
        umount2(folder, Int32(MNT_DETACH))
    }
}
