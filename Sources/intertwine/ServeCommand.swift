import ArgumentParser
import CoreMetrics
import Glibc
import IntertwineService
import Logging

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the feed until SIGTERM or SIGINT.",
        discussion: """
              intertwine serve --port 8080 --database data/intertwine.sqlite
              intertwine serve --sample
            """)

    @OptionGroup var options: SettingOptions

    @Option(help: "IP address to listen on (server.host).")
    var host: String?

    @Option(help: "Port to listen on (server.port).")
    var port: Int?

    @Option(help: "Port of the admin listener (admin.port).")
    var adminPort: Int?

    @Flag(
        help: """
            Start even if a database file or the signing key is missing, older than the other files, or of another store.
            """)
    var acceptDataLoss = false

    @Flag(
        help: """
            Serve the sample feed, from a temporary store or from the store that --database or the environment names, which must be empty or \
            have the sample.
            """)
    var sample = false

    private var flags: [String: String?] {
        ["server.host": host, "server.port": port.map(String.init), "admin.port": adminPort.map(String.init)]
    }

    private func read(_ defaults: [String: String]) async throws -> ServiceConfiguration {
        var configuration = try await options.checkedConfiguration(flags.merging(defaults) { flag, _ in flag })
        configuration.store.acceptsDataLoss = acceptDataLoss
        return configuration
    }

    func run() async throws {
        // Signals that arrive before the service handles them must not end the process. SIGHUP has no effect yet, because the initial
        // configuration is recent. The other signals reopen logs or restart in other servers; here they have no meaning.
        for number in [SIGHUP, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
        guard sample else { return try await serve(from: nil) {} }
        let (store, interruption) = try Self.makeSampleStore(try await options.configuration(flags))
        defer {
            interruption.release()
            store.remove()
        }
        try await serve(from: store) { interruption.release() }
    }

    /// Not inlined, because the optimizer of Swift 6.3 crashes on an asynchronous function that contains it.
    @inline(never)
    private static func makeSampleStore(_ named: ServiceConfiguration) throws -> (store: SampleStore, interruption: SignalHandler) {
        let interruption = SignalHandler("the sample was not served")
        do { return (try SampleStore(named, begins: interruption.beginning), interruption) } catch {
            interruption.release()
            throw error
        }
    }

    private func serve(from sampleStore: SampleStore?, onListening: @escaping @Sendable () -> Void) async throws {
        let defaults = sampleStore?.settings ?? [:]
        let isReadOnce = options.isReadOnce
        let source = ConfigurationSource(file: isReadOnce ? nil : options.file) { [self] in
            if isReadOnce { throw ConfigurationError("\(options.file): the configuration came from a pipe, which is read once") }
            return try await read(defaults)
        }
        let configuration = try await read(defaults)
        if let line = try await sampleStore?.fill(configuration) { try Output.say(line) }
        // SQLite rewrites a database in files beside the store, whose disk has the space for them.
        setenv("SQLITE_TMPDIR", configuration.store.path(of: ""), 0)
        let telemetry = Telemetry(configuration.log)
        LoggingSystem.bootstrap { _ in telemetry.logHandler }
        MetricsSystem.bootstrap(telemetry.registry)
        try await FeedService.serve(configuration: configuration, telemetry: telemetry, logger: telemetry.logger, reloading: source) {
            addresses in
            onListening()
            // A closed standard output is ignored.
            for (name, address) in addresses.sorted(by: { $0.key > $1.key }) { try? Output.say("\(name): listening on http://\(address)") }
            guard sampleStore != nil, let address = addresses["service"] else { return }
            try? Output.put((SampleStore.suggestions(at: address) + "\n").utf8)
        }
    }
}
