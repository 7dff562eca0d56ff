import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Health command from outside")
struct HealthCommandTests {
    private static func run(_ service: RunningService, _ arguments: [String], port: UInt16? = nil) throws -> (code: Int32, lines: [String])
    {
        try Command.run(["health", "--config", service.configurationFile, "--port", "\(port ?? service.port)"] + arguments)
    }

    @Test("A running service is healthy and ready")
    func success() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            // The first check may take longer than a response waits.
            try poll { try service.get("/readyz").status == 200 }
            for (arguments, path) in [([], "/healthz"), (["--ready"], "/readyz")] as [([String], String)] {
                let result = try Self.run(service, arguments)
                #expect(result.code == 0 && result.lines == ["http://127.0.0.1:\(service.port)\(path): 200"])
            }
        }
    }

    @Test("The port and the host come from the service's own configuration, and a wildcard address is reached on loopback")
    func configuration() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            let file = "\(service.folder)/service.yaml"
            for host in ["127.0.0.1", "0.0.0.0", "localhost"] {
                try "server: {host: \(host), port: \(service.port)}\n".write(toFile: file, atomically: true, encoding: .utf8)
                let result = try Command.run(["health"], environment: ["INTERTWINE_CONFIG": file])
                #expect(
                    result.code == 0 && result.lines.first?.hasSuffix(":\(service.port)/healthz: 200") == true, "\(host): \(result.lines)")
            }
        }
    }

    @Test("A failed check has exit code 1 and one line with the reason")
    func failure() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1), settings: ["server.shutdown-delay=60s", "server.shutdown-timeout=1s"])
            let free = try freePort()
            let closed = try Self.run(service, [], port: free)
            #expect(closed.code == 1 && closed.lines == ["Error: http://127.0.0.1:\(free): connect: Connection refused"])
            let unknown = try Self.run(service, [], port: 0)
            #expect(unknown.code == 1 && unknown.lines.count == 1 && unknown.lines[0].contains("server.port is 0"), "\(unknown.lines)")
            service.process.signal(SIGTERM)
            try poll { try Self.run(service, ["--ready"]).code == 1 }
            let result = try Self.run(service, ["--ready"])
            #expect(result.lines == ["Error: http://127.0.0.1:\(service.port)/readyz: 503: The service is stopping."])
            #expect(try Self.run(service, []).code == 0)
        }
    }

    @Test("A listener that does not respond fails the check after two seconds")
    func silence() async throws {
        try await offPool {
            let service = try RunningService(items: Items.users(1))
            service.process.signal(SIGSTOP)
            let begin = ContinuousClock.now
            let result = try Self.run(service, [])
            service.process.signal(SIGCONT)
            #expect(ContinuousClock.now - begin < MachineSpeed.bound(.seconds(4)))
            #expect(result.code == 1 && result.lines.count == 1 && result.lines[0].hasSuffix("no response within 2 s"), "\(result.lines)")
        }
    }
}
