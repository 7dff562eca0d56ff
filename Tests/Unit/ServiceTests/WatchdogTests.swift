import Dispatch
import Foundation
import TestSupport
import Testing

@testable import IntertwineHTTPServer
@testable import IntertwineService

@Suite("Notifications of the watchdog")
struct WatchdogTests {
    /// A handler that blocks the event loop of a request.
    private struct Blocking: HTTPHandler {
        let started = DispatchSemaphore(value: 0)
        let goesOn = DispatchSemaphore(value: 0)

        func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
            started.signal()
            goesOn.wait()
            return .respond(ServerResponse(status: .ok))
        }
    }

    @Test("A notification follows each round of all event loops, and none comes while one of them is stuck")
    func rounds() async throws {
        let path = "/tmp/intertwine-\(UUID())"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let socket = try NotificationSocket(path)
        let handler = Blocking()
        var configuration = HTTPServerConfiguration()
        (configuration.port, configuration.loops) = (0, 32)
        let server = HTTPServer(configuration: configuration, handler: handler)
        let address = try await server.start()
        let notifier = SystemdNotifier(environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "300000"])
        let watchdog = Watchdog([server], stopTime: .zero, notifier: notifier)
        #expect(watchdog.interval == .milliseconds(100))
        for _ in 0..<50 {
            await watchdog.perform()
            #expect(socket.next(milliseconds: 0) == "WATCHDOG=1")
        }
        let port = try #require(UInt16(address.description.split(separator: ":").last ?? ""))
        try await offPool {
            try RawClient(port: port).send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            handler.started.wait()
        }
        async let round: Void = watchdog.perform()
        try await Task.sleep(for: .milliseconds(500))
        #expect(socket.next(milliseconds: 0) == nil)
        handler.goesOn.signal()
        await round
        #expect(socket.next() == "WATCHDOG=1")
        await server.shutdown(grace: .zero)
    }
}
