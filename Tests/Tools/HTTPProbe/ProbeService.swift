import CAllocationCount
import Dispatch
import Glibc
import IntertwineHTTPServer

/// Serves until SIGTERM. SIGUSR1 makes it print how much it has allocated.
struct ProbeService {
    let port: UInt16

    func run() async throws {
        var configuration = HTTPServerConfiguration()
        configuration.port = port
        configuration.connectionLimit = 20_000
        configuration.connectionsPerPeer = nil
        let server = HTTPServer(configuration: configuration, handler: ProbeHandler(pageBytes: 8 * 1024))
        let address = try await server.start()
        signal(SIGTERM, SIG_IGN)
        signal(SIGUSR1, SIG_IGN)
        let queue = DispatchQueue(label: "signals")
        let counting = DispatchSource.makeSignalSource(signal: SIGUSR1, queue: queue)
        counting.setEventHandler { say("allocations \(callocation_count())") }
        counting.activate()
        let stopping = DispatchSource.makeSignalSource(signal: SIGTERM, queue: queue)
        await withCheckedContinuation { continuation in
            stopping.setEventHandler {
                stopping.cancel()
                continuation.resume()
            }
            stopping.activate()
            say("listening on \(address)")
        }
        counting.cancel()
        await server.shutdown(grace: .seconds(10))
        say("stopped")
    }
}
