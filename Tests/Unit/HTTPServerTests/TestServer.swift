@testable import IntertwineHTTPServer

/// A running server with the echo handler.
struct TestServer {
    let server: HTTPServer
    let port: UInt16

    /// Limits for tests: the ones that would be in the way are lifted.
    static var configuration: HTTPServerConfiguration {
        var configuration = HTTPServerConfiguration()
        configuration.connectionsPerPeer = nil
        configuration.timerTick = .milliseconds(20)
        return configuration
    }

    static func start(
        _ handler: EchoHandler = EchoHandler(), observer: (any HTTPServerObserver)? = nil,
        _ change: (inout HTTPServerConfiguration) -> Void = { _ in }
    ) async throws -> TestServer {
        var configuration = configuration
        change(&configuration)
        let server = HTTPServer(configuration: configuration, handler: handler, observer: observer)
        return TestServer(server: server, port: try await server.start().port)
    }

    /// One for all tests that only ask and change nothing.
    static let shared = Task { try await start() }
}
