import ArgumentParser
import Foundation
import HTTPTypes
import IntertwineHTTPServer

/// The origin of the sample feed's images, which serves one folder on loopback.
@main
struct SampleOrigin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "sample-origin", abstract: "Serve the images of a folder on loopback, for the sample feed.")

    @Option(help: "Port to listen on.")
    var port: UInt16 = 8082

    @Argument(help: "The folder.")
    var folder: String

    func run() async throws {
        var configuration = HTTPServerConfiguration()
        configuration.port = port
        configuration.loops = 1
        let server = try HTTPServer(configuration: configuration, handler: ImageFolder(path: folder))
        // Before the line with the port, because its reader may end this process at once. The stream keeps a signal from before the wait.
        signal(SIGTERM, SIG_IGN)
        let terminated = DispatchSource.makeSignalSource(signal: SIGTERM)
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        terminated.setEventHandler { continuation.finish() }
        terminated.activate()
        let address = try await server.start()
        print("images: listening on http://\(address)")
        fflush(nil)
        for await _ in signals {}
        terminated.cancel()
        await server.shutdown(grace: .seconds(1))
    }
}

struct ImageFolder: HTTPHandler {
    private let images: [String: EncodedResponse]

    init(path: String) throws {
        var images: [String: EncodedResponse] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) where name.hasSuffix(".png") {
            let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path).appendingPathComponent(name)))
            var response = ServerResponse(
                status: .ok, fields: [.contentType: "image/png", .cacheControl: "public, max-age=86400"], body: bytes)
            response.entityTag = "\"\(name)-\(bytes.count)\""
            response.acceptsRanges = true
            images["/\(name)"] = EncodedResponse(response)
        }
        self.images = images
    }

    func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        images[head.request.path ?? ""].map { .cached($0) } ?? .notFound()
    }
}
