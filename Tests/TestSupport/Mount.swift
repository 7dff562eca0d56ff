import Foundation
import Glibc

/// A mounted file system, where the tests may mount any; nil, with a note, where they may not.
public struct Mount {
    private let folder: String

    /// The folder over itself, read-only.
    public static func readOnly(_ folder: String) throws -> Mount? {
        guard mount(folder, folder, nil, UInt(MS_BIND), nil) == 0 else { return unavailable() }
        guard mount(nil, folder, nil, UInt(MS_BIND | MS_REMOUNT | MS_RDONLY), nil) == 0 else {
            umount(folder)
            return unavailable()
        }
        return Mount(folder: folder)
    }

    /// A disk in memory, of so many KiB.
    public static func small(_ folder: String, kibibytes: Int) throws -> Mount? {
        guard mount("tmpfs", folder, "tmpfs", 0, "size=\(kibibytes)k") == 0 else { return unavailable() }
        return Mount(folder: folder)
    }

    public func remove() {
        umount2(folder, Int32(MNT_DETACH))
    }

    private static func unavailable() -> Mount? {
        print("skipped: mounting is not allowed here (\(String(cString: strerror(errno))))")
        return nil
    }
}
