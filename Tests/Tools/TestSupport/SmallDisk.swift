import Foundation
import Glibc

/// A disk in memory that PostgreSQL's user may write, and that can be full.
public struct SmallDisk {
    /// PostgreSQL wants a folder of its own in it, `data`.
    let folder: String
    private let mount: Mount

    public init(kibibytes: Int) throws {
        folder = "/tmp/intertwine-disk-\(UUID().uuidString.prefix(8))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        do {
            mount = try Mount.small(folder, kibibytes: kibibytes)
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
        try FileManager.default.createDirectory(atPath: "\(folder)/data", withIntermediateDirectories: false)
        // Who may mount is root, and PostgreSQL refuses to run as root.
        if let owner = getpwnam("postgres") { chown("\(folder)/data", owner.pointee.pw_uid, owner.pointee.pw_gid) }
    }

    /// Takes all the room that is left.
    public func fill() throws {
        let descriptor = open("\(folder)/balloon", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw RawClientError.system("open", errno) }
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: 0, count: 1 << 12)
        while write(descriptor, bytes, bytes.count) > 0 {}
    }

    /// Gives it back.
    public func clear() throws { try FileManager.default.removeItem(atPath: "\(folder)/balloon") }

    public func remove() {
        mount.remove()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
