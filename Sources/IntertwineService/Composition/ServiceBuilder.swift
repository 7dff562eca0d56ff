internal import Glibc
internal import IntertwineHTTPServer
public import Logging

extension FeedService {
    /// Creates and connects all parts of the service. This is the only composition root.
    ///
    /// ```swift
    /// var configuration = ServiceConfiguration()
    /// configuration.server.port = 8080
    /// let service = try FeedService.build(configuration: configuration, logger: Logger(label: "feed"))
    /// try await service.run()
    /// ```
    ///
    /// - Parameter extensions: The kinds of item, cells and commands of the embedding program.
    /// - Throws: `ConfigurationError` or `StoreError`, each with one line for the person who starts the service.
    public static func build(
        configuration: ServiceConfiguration, extensions: ServiceExtensions = ServiceExtensions(), logger: Logger
    ) throws -> FeedService {
        try build(configuration: configuration, extensions: extensions, telemetry: Telemetry(configuration.log), logger: logger)
    }

    package static func build(
        configuration: ServiceConfiguration, extensions: ServiceExtensions, telemetry: Telemetry, logger: Logger
    ) throws -> FeedService {
        // A closed log or connection must not end the process.
        signal(SIGPIPE, SIG_IGN)
        // The check includes the needs of serving, because workers start during the composition and would fail without a clear message.
        try FileDescriptors.require(FileDescriptors.ofStores + FileDescriptors.ofServing)
        return try ServiceBuilder(
            configuration: configuration, extensions: extensions, telemetry: telemetry, logger: logger
        ).build()
    }
}

struct ServiceBuilder: Sendable {
    let configuration: ServiceConfiguration
    let extensions: ServiceExtensions
    let telemetry: Telemetry
    let logger: Logger

    func build() throws -> FeedService {
        let stores = try openStores()
        let parts = try makeProcessParts(stores)
        do {
            return try compose(stores, parts)
        } catch {
            // The caller gets no service to close, so the image workers are ended here. The databases close with their last reference.
            Task { await parts.images.shutDown() }
            throw error
        }
    }

    private func compose(_ stores: OpenStores, _ parts: ProcessParts) throws -> FeedService {
        let router = Router([], acceptsOnlyJSON: true, clock: stores.clock, logger: logger)
        let live = try ReloadableApplication(configuration, router: router, control: telemetry.control, logger: logger) {
            try makeApplication($0, stores, parts)
        } check: {
            try await check($0, stores, parts)
        }
        let listeners = try makeListeners(live, router, stores, parts)
        let background = backgroundServices(live, stores, parts, listeners)
        return FeedService(
            live: live, stores: stores, parts: parts, listeners: listeners, background: background, telemetry: telemetry, logger: logger)
    }
}
