internal import HTTPServer
internal import ServiceLifecycle

/// The listening servers, as one thing that starts and stops.
struct Listeners: ServiceLifecycle.Service {
    let servers: [(name: String, server: HTTPServer)]
    let state: ServiceState
    let grace: Duration
    let started: @Sendable ([String: String]) -> Void

    func run() async throws {
        var addresses: [String: String] = [:]
        for (name, server) in servers { addresses[name] = try await server.start().description }
        started(addresses)
        try? await gracefulShutdown()
        state.drain()
        await withTaskGroup { group in
            for (_, server) in servers {
                group.addTask { await server.shutdown(grace: grace) }
            }
        }
    }
}
