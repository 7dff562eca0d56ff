import Foundation
import Glibc
import TestSupport
import Testing

@Suite("System limits and systemd notifications")
struct SupervisionTests {
    private static func folder() throws -> String {
        // Every user can access this folder.
        let path = "/tmp/intertwine-\(UUID())"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try "".write(toFile: "\(path)/x.yaml", atomically: true, encoding: .utf8)
        return path
    }

    @Test("The service notifies systemd of readiness, watchdog intervals and the stop", arguments: [false, true])
    func notified(isAbstract: Bool) async throws {
        try await offPool {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let name = isAbstract ? "@intertwine-\(UUID())" : "\(folder)/notify"
            let listener = try NotificationSocket(name)
            let service = try RunningService(environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "300000"])
            #expect(listener.next() == "READY=1")
            #expect(try service.get("/readyz").status == 200)
            for _ in 0..<5 { #expect(listener.next() == "WATCHDOG=1") }
            // A suspended process sends no notification.
            service.process.signal(SIGSTOP)
            while listener.next(milliseconds: 1_000) != nil {}
            service.process.signal(SIGCONT)
            #expect(listener.next() == "WATCHDOG=1")
            service.process.signal(SIGTERM)
            var last: String?
            repeat { last = listener.next() } while last == "WATCHDOG=1"
            #expect(last == "STOPPING=1")
            #expect(service.process.wait() == 0)
        }
    }

    @Test("A time of day that is set back does not delay the watchdog")
    func setBack() async throws {
        try await offPool {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let listener = try NotificationSocket("\(folder)/notify")
            // To the service, the kernel's time of day is an hour behind.
            let clock = try MovableClock()
            clock.offset = 3_600
            let environment = ["NOTIFY_SOCKET": "\(folder)/notify", "WATCHDOG_USEC": "300000"]
            let service = try RunningService(environment: environment.merging(clock.environment) { $1 })
            #expect(listener.next() == "READY=1")
            for _ in 0..<3 { #expect(listener.next() == "WATCHDOG=1") }
            service.process.signal(SIGTERM)
            #expect(service.process.wait() == 0)
        }
    }

    @Test("An invalid notification socket or watchdog process id has no effect")
    func unnotified() async throws {
        try await offPool {
            for name in ["relative", "/none/socket", "@", "/" + String(repeating: "a", count: 200)] {
                let service = try RunningService(environment: ["NOTIFY_SOCKET": name, "WATCHDOG_USEC": "x", "WATCHDOG_PID": "1"])
                #expect(try service.get("/readyz").status == 200)
                service.process.signal(SIGTERM)
                #expect(service.process.wait() == 0)
            }
        }
    }
}

/// The notification socket of a service manager.
private final class NotificationSocket {
    private let descriptor: Int32

    init(_ name: String) throws {
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if name.hasPrefix("@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let result = withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        if result != 0 { throw RawClientError.system("bind", errno) }
    }

    deinit { close(descriptor) }

    /// Returns the next notification; nil after the timeout.
    func next(milliseconds: Int32 = 15_000) -> String? {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, milliseconds) > 0 else { return nil }
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }
}
