import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Slow starts and starts with failures", .timeLimit(.untilStuck))
struct StartTroubleTests {
    private static func folder() throws -> String {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("intertwine-\(UUID())").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try "".write(toFile: "\(path)/empty.yaml", atomically: true, encoding: .utf8)
        return path
    }

    private static func stop(_ service: RunningService) {
        service.process.signal(SIGTERM)
        #expect(service.process.wait() == 0)
    }

    @Test("Requests wait while a store is created, and a start that cannot bind opens no store")
    func waiting() async throws {
        try await offPool {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            // The lock simulates another process that creates the store.
            let other = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            defer { close(other) }
            #expect(flock(other, LOCK_EX) == 0)
            let port = try freePort()
            let command = [
                BuiltProduct.path("intertwine"), "serve", "--config", "\(folder)/empty.yaml", "--port", "\(port)", "--admin-port", "0",
                "--database", "\(folder)/intertwine.sqlite",
            ]
            let process = try SpawnedProcess(command)
            var waiting: RawClient?
            while waiting == nil {
                waiting = try? RawClient(port: port)
                usleep(10_000)
            }
            let client = try #require(waiting)
            try client.send("GET /feed HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            let second = try SpawnedProcess(command.map { $0.replacing("/intertwine.sqlite", with: "/second.sqlite") })
            while try second.nextLine() != nil {}
            #expect(second.wait() == 1 && !FileManager.default.fileExists(atPath: "\(folder)/second.sqlite"))
            #expect(flock(other, LOCK_UN) == 0)
            #expect(try client.response().status == 200)
            process.signal(SIGTERM)
            #expect(process.wait() == 0)
        }
    }

    @Test("A start with a full disk is refused with the reason, and succeeds with free space", .mounts)
    func fullDisk() async throws {
        try await offPool {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let mount = try Mount.small(folder, kibibytes: 4_096)
            defer { mount.remove() }
            try "".write(toFile: "\(folder)/empty.yaml", atomically: true, encoding: .utf8)
            _ = try RunningService.importItems(Items.users(3), into: "\(folder)/intertwine.sqlite", folder: folder)
            Self.stop(try RunningService(in: folder))
            let balloon = open("\(folder)/balloon", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            defer { close(balloon) }
            let piece = [UInt8](repeating: 0, count: 4_096)
            while write(balloon, piece, piece.count) > 0 {}
            let process = try SpawnedProcess(
                [BuiltProduct.path("intertwine")] + RunningService.arguments(folder, "\(folder)/intertwine.sqlite"))
            while try process.nextLine(timeout: 60_000) != nil {}
            #expect(process.wait() == 1 && process.lines.last?.hasSuffix("the disk is full") == true, "\(process.lines)")
            #expect(ftruncate(balloon, 0) == 0)
            let service = try RunningService(in: folder)
            #expect(try service.get("/readyz").status == 200)
            Self.stop(service)
        }
    }

    @Test("Database files have mode 0600, and a start restores it")
    func modes() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(3))
            let files = FileManager.default
            func modes() throws -> [String: Int] {
                let names = try files.contentsOfDirectory(atPath: service.folder).filter { $0.contains(".sqlite") }
                return try names.reduce(into: [:]) { modes, name in
                    modes[name] = try files.attributesOfItem(atPath: "\(service.folder)/\(name)")[.posixPermissions] as? Int
                }
            }
            #expect(try service.ask("POST", "/cells/user:u1/selection").status == 200)
            let found = try modes()
            #expect(found.count == 6 && found.values.allSatisfy { $0 == 0o600 }, "\(found)")
            for name in found.keys { #expect(chmod("\(service.folder)/\(name)", 0o644) == 0) }
            try service.killAndRestart()
            let after = try modes()
            #expect(after.values.allSatisfy { $0 == 0o600 }, "\(after)")
        }
    }

    @Test(
        "A file that cannot be read fails with the reason of the system",
        arguments: [
            (["import", "/proc/self/mem"], "/proc/self/mem: cannot be read: Input/output error; nothing was imported"),
            (["check-config", "--set", "kinds.file=/tmp"], "kinds.file: /tmp: the file cannot be read: Is a directory"),
            (["check-config", "--set", "campaigns.file=/proc/self/mem"], "/proc/self/mem: the file cannot be read: Input/output error"),
            (["check-config", "--set", "sources.file=/none"], "/none: the file cannot be read: No such file or directory"),
        ])
    func unreadable(arguments: [String], reason: String) async throws {
        try await offPool {
            let folder = try Self.folder()
            defer { try? FileManager.default.removeItem(atPath: folder) }
            let options = ["--config", "\(folder)/empty.yaml", "--database", "\(folder)/x.sqlite"]
            let result = try Command.run(arguments.prefix(1) + options + arguments.dropFirst())
            #expect(result.code != 0 && result.lines.count == 1 && result.lines[0].hasSuffix(reason), "\(result.lines)")
        }
    }
}
