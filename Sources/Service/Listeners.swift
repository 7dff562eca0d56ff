internal import HTTPServer
internal import ServiceLifecycle

/// The listening servers, as one thing that starts and stops, in their order.
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
        // One after another, so that the operators' listener, the last one, tells how things stand until the others are done.
        let end = ContinuousClock.now + grace
        for (_, server) in servers { await server.shutdown(grace: max(.zero, end - .now)) }
    }
}
