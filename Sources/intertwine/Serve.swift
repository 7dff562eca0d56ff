import ArgumentParser
import Logging
import Service

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the feed until SIGTERM or SIGINT.",
        discussion: "  intertwine serve --port 8080 --database data/intertwine.sqlite")

    @OptionGroup var options: SettingOptions

    @Option(help: "IP address to listen on (server.host).")
    var host: String?

    @Option(help: "Port to listen on (server.port).")
    var port: Int?

    @Option(help: "Port of the operators' listener (admin.port).")
    var adminPort: Int?

    func run() async throws {
        let configuration = try await options.configuration([
            "server.host": host, "server.port": port.map(String.init), "admin.port": adminPort.map(String.init),
        ])
        let logger = Logger(label: "intertwine") { StreamLogHandler.standardError(label: $0) }
        let service = try FeedService.build(configuration: configuration, logger: logger)
        try await service.run { addresses in
            for (name, address) in addresses.sorted(by: { $0.key > $1.key }) { print("\(name): listening on http://\(address)") }
            Output.flush()
        }
    }
}
