import ArgumentParser
import Foundation
import IntertwineService

struct HealthCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "health",
        abstract: "Check that the service on this machine responds, or is ready.",
        discussion: """
            The command requests /healthz, or /readyz with --ready, from the address of the service's listener (server.host, server.port). It
            prints one line. The exit code is 0 if the response is 200, and 1 otherwise.

              intertwine health
              intertwine health --ready --port 9000
            """)

    @OptionGroup var options: SettingOptions

    @Flag(help: "Check that the service can serve: its stores respond, and it is not stopping.")
    var ready = false

    @Option(help: "Port of the service, if it was started with another one (server.port).")
    var port: Int?

    func run() async throws {
        let server = try await options.configuration(["server.port": port.map(String.init)]).server
        guard server.port != 0 else { throw ExitError("server.port is 0, so the kernel chose the port; name it with --port") }
        let (path, request) = (ready ? "/readyz" : "/healthz", LocalRequest(host: server.host, port: server.port))
        // The process has no other task that this blocking request could delay.
        let (status, body) = try request.get(path)
        let line = "http://\(request.authority)\(path): \(status)"
        guard status == 200 else {
            let detail = (try? JSONDecoder().decode(Refusal.self, from: body))?.detail
            throw ExitError(detail.map { "\(line): \($0)" } ?? line)
        }
        try Output.say(line)
    }

    /// The problem document of a response (RFC 9457).
    private struct Refusal: Decodable {
        var detail: String?
    }
}
