// FlyingFox serving the same bytes: GET /feed, from the file in PAGE.
import FlyingFox
import Foundation

let environment = ProcessInfo.processInfo.environment
let page = try Data(contentsOf: URL(fileURLWithPath: environment["PAGE"] ?? ""))
let port = UInt16(environment["PORT"] ?? "") ?? 0
let server = HTTPServer(address: try .inet(ip4: "127.0.0.1", port: port), logger: .disabled)
await server.appendRoute("GET /feed") { _ in
    HTTPResponse(
        statusCode: .ok,
        headers: [
            .contentType: "application/json", HTTPHeader("Cache-Control"): "no-cache", HTTPHeader("Vary"): "Accept-Encoding",
            HTTPHeader("ETag"): "\"0123456789abcdef\"",
        ],
        body: page)
}
try await server.run()
