import Foundation
import TestSupport
import Testing

@testable import IntertwinePrimitives

@Suite struct OwnedFileTests {
    @Test(
        "A new file is private, and shared with a group that can write in its folder",
        arguments: [
            (0o700, 0o600, 0o700), (0o755, 0o600, 0o700), (0o750, 0o600, 0o700), (0o770, 0o660, 0o770), (0o775, 0o660, 0o770),
            (0o777, 0o660, 0o770), (0o2770, 0o660, 0o2770), (0o1777, 0o660, 0o770), (0o730, 0o620, 0o730),
        ] as [(mode_t, mode_t, mode_t)])
    func modes(_ folder: mode_t, _ file: mode_t, _ subfolder: mode_t) throws {
        let place = NSTemporaryDirectory() + "/owned-\(UUID().uuidString)"
        #expect(mkdir(place, 0o700) == 0 && chmod(place, folder) == 0)
        defer { try? FileManager.default.removeItem(atPath: place) }
        func mode(_ name: String) -> mode_t? {
            var facts = stat()
            return stat("\(place)/\(name)", &facts) == 0 ? facts.st_mode & 0o7777 : nil
        }
        for (name, flags) in [("appended", O_WRONLY | O_APPEND), ("new", O_RDWR | O_EXCL), ("replaced", O_WRONLY | O_TRUNC | O_NOFOLLOW)] {
            let descriptor = OwnedFile.open("\(place)/\(name)", flags)
            #expect(descriptor >= 0 && fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
            close(descriptor)
            #expect(mode(name) == file, "\(name)")
        }
        // An existing file keeps its mode.
        #expect(chmod("\(place)/appended", 0o640) == 0)
        close(OwnedFile.open("\(place)/appended", O_WRONLY | O_APPEND))
        #expect(mode("appended") == 0o640)
        #expect(OwnedFile.open("\(place)/new", O_RDWR | O_EXCL) == -1 && errno == EEXIST)
        #expect(OwnedFile.makeFolder("\(place)/sub") && mode("sub") == subfolder)
        #expect(!OwnedFile.makeFolder("\(place)/sub") && errno == EEXIST)
    }

    @Test("A refusal names the owner and the user of this process; another error does not")
    func reasons() {
        errno = EACCES
        let refused = OwnedFile.reason("/proc/none/below")
        #expect(refused.hasPrefix("Permission denied: /proc belongs to uid 0 and gid 0, mode 555; this process has uid \(geteuid())"))
        errno = ENOSPC
        #expect(OwnedFile.reason("/proc") == "No space left on device")
    }
}
