import Dispatch
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("Rolling restarts of replicas behind HAProxy", .onlyInFull)
struct RollingRestartTests {
    private static let rounds = 2
    private static let settings =
        Replicas.settings + ["server.shutdown-delay=2s", "limits.writes-per-address=1000000"]

    /// Starts HAProxy with the configuration of `Deploy/run-replicas` for these ports.
    private static func balancer(_ port: UInt16, _ replicas: [UInt16], folder: String) throws -> SpawnedProcess {
        let path = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../Deploy/run-replicas").standardized
        let script = try String(contentsOf: path, encoding: .utf8)
        let parts = script.components(separatedBy: "<<CONFIGURATION\n")
        let template = try #require(parts.dropFirst().first?.components(separatedBy: "\nCONFIGURATION\n").first)
        let servers = replicas.enumerated().map {
            "    server replica\($0.offset) 127.0.0.1:\($0.element) check inter 500ms fall 1 rise 1\n"
        }
        #expect(script.contains(#"    server replica$index 127.0.0.1:${ports[index]} check inter 500ms fall 1 rise 1"#))
        let text = template.replacing("$port", with: "\(port)").replacing("$backends", with: servers.joined())
        try (text + "\n").write(toFile: "\(folder)/haproxy.cfg", atomically: true, encoding: .utf8)
        let program = try #require(["/usr/sbin/haproxy", "/usr/bin/haproxy"].first(where: FileManager.default.isExecutableFile))
        return try SpawnedProcess([program, "-db", "-q", "-f", "\(folder)/haproxy.cfg"])
    }

    private static func hasServedPage(_ replica: RunningService) throws -> Bool {
        try replica.admin("GET", "/metrics").text.split(separator: "\n").contains {
            $0.hasPrefix("intertwine_http_requests_total{") && $0.contains(#"route="/feed""#) && !$0.hasSuffix(" 0")
        }
    }

    @Test("Two rolling restarts under load fail no request")
    func unnoticed() async throws {
        try await offPool {
            let database = try PostgresServer.shared().makeDatabase()
            let ports = try (0..<2).map { _ in try freePort() }
            var replicas = try ports.enumerated().map { index, port in
                try RunningService(
                    items: index == 0 ? Replicas.items : "", settings: Self.settings, port: port, database: database.uri)
            }
            let front = try freePort()
            let balancer = try Self.balancer(front, ports, folder: replicas[0].folder)
            defer { balancer.signal(SIGTERM) }
            try poll { (try? RunningService.ask(RawClient(port: front), "GET", "/readyz").status) == 200 }

            // More would fill the readers' queue of a busy machine for a second, after which a replica is not ready.
            let load = Load(port: front, clients: 4)
            for _ in 0..<Self.rounds {
                for index in replicas.indices {
                    let before = load.answers.served
                    replicas[index].process.signal(SIGTERM)
                    #expect(replicas[index].process.wait() == 0)
                    replicas[index] = try RunningService(settings: Self.settings, port: ports[index], database: database.uri)
                    // The replica serves pages before the next one restarts.
                    let replica = replicas[index]
                    try poll { try Self.hasServedPage(replica) }
                    #expect(load.answers.served > before)
                }
            }
            let outcome = load.stop()
            #expect(outcome.failures.isEmpty, "of \(outcome.served)")
        }
    }
}

/// Clients that read pages and select cells until ``stop()``.
private final class Load: Sendable {
    struct Answers: Sendable {
        var served = 0
        var failures: [String: Int] = [:]
    }

    private let port: UInt16
    private let isOver = Atomic(false)
    private let group = DispatchGroup()
    private let state = Mutex(Answers())

    init(port: UInt16, clients: Int) {
        self.port = port
        for number in 0..<clients { DispatchQueue(label: "client \(number)").async(group: group) { [self] in run(number) } }
    }

    var answers: Answers { state.withLock { $0 } }

    func stop() -> Answers {
        isOver.store(true, ordering: .relaxed)
        group.wait()
        return answers
    }

    private func run(_ number: Int) {
        var connection: RawClient?
        var count = 0
        while !isOver.load(ordering: .relaxed) {
            count += 1
            // HAProxy may retry a GET at another replica, but not a selection.
            let (method, path) = number % 2 == 0 ? ("GET", "/feed") : ("POST", "/cells/user:u\(count % 12)/selection")
            do {
                let client = try connection ?? RawClient(port: port)
                connection = client
                let answer = try RunningService.ask(client, method, path)
                if answer.closes { connection = nil }
                note(answer.status == 200 ? nil : "\(method) \(answer.status)")
            } catch {
                connection = nil
                note("\(method) \(error)")
            }
        }
    }

    private func note(_ failure: String?) {
        state.withLock { state in
            if let failure { state.failures[failure, default: 0] += 1 } else { state.served += 1 }
        }
    }
}
