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
