// Hummingbird serving the same bytes (GET /feed, from the file in PAGE) and doing the same query (GET /query, on the SQLite file in
// DATABASE): what an application written with it would do, with GRDB and JSONEncoder, in release mode.
import Foundation
import GRDB
import HTTPTypes
import Hummingbird
import Logging

let environment = ProcessInfo.processInfo.environment
let port = Int(environment["PORT"] ?? "") ?? 0
let router = Router()

if let path = environment["PAGE"] {
    let body = ByteBuffer(bytes: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
    router.get("/feed") { _, _ in
        Response(
            status: .ok,
            headers: [
                .contentType: "application/json", .cacheControl: "no-cache", .vary: "Accept-Encoding", .eTag: "\"0123456789abcdef\"",
            ],
            body: .init(byteBuffer: body))
    }
}

if let path = environment["DATABASE"] {
    let pool = try DatabasePool(path: path)
    router.get("/query") { request, _ in
        let after = request.uri.queryParameters.get("after", as: Int64.self) ?? 0
        let limit = min(request.uri.queryParameters.get("limit", as: Int.self) ?? 20, 100)
        let page = try await Page.read(from: pool, after: after, limit: limit)
        var headers = HTTPFields()
        headers[.contentType] = "application/json"
        headers[.cacheControl] = "no-cache"
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(data: try JSONEncoder().encode(page))))
    }
}

var logger = Logger(label: "peer")
logger.logLevel = .error
let application = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)), logger: logger)
try await application.runService()
