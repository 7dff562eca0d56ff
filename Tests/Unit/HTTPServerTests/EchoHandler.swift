import Glibc
import HTTPTypes
import Synchronization

@testable import IntertwineHTTPServer

/// Says back what it was asked. A few paths behave in the ways that the tests are about.
struct EchoHandler: HTTPHandler {
    static let text = Array(String(repeating: "All work and no play. ", count: 200).utf8)
    static let modified: Int64 = 784_111_777

    static let page: EncodedResponse = {
        var response = ServerResponse(status: .ok, fields: [.contentType: "text/plain", .cacheControl: "no-cache"], body: text)
        response.entityTag = "\"page\""
        response.lastModified = modified
        response.isCompressible = true
        return EncodedResponse(response, route: "page")
    }()

    static let image = image(ServerResponse(status: .ok, body: (0..<1000).map { UInt8($0 % 251) }))

    /// The same in a file.
    static let file = image(ServerResponse(status: .ok, file: TemporaryFile.body((0..<1000).map { UInt8($0 % 251) })))

    private static func image(_ response: ServerResponse) -> EncodedResponse {
        var response = response
        response.fields[.contentType] = "image/png"
        response.fields[.xContentTypeOptions] = "nosniff"
        response.entityTag = "\"image\""
        response.lastModified = modified
        response.acceptsRanges = true
        return EncodedResponse(response)
    }

    /// Changed at a time that is still to come.
    static let tomorrow: EncodedResponse = {
        var response = ServerResponse(status: .ok, fields: [.contentType: "text/plain"], body: text)
        response.lastModified = 253_402_300_799
        response.acceptsRanges = true
        return EncodedResponse(response)
    }()

    static let huge = EncodedResponse(
        ServerResponse(status: .ok, fields: [.contentType: "text/plain"], body: [UInt8](repeating: 0x61, count: 8 << 20)))

    static let hugeFile = EncodedResponse(
        ServerResponse(
            status: .ok, fields: [.contentType: "text/plain"], file: TemporaryFile.body([UInt8](repeating: 0x61, count: 8 << 20))))

    /// Nobody keeps it but whoever sends it.
    static var freshFile: EncodedResponse {
        EncodedResponse(
            ServerResponse(
                status: .ok, fields: [.contentType: "text/plain"], file: TemporaryFile.body((0..<3 << 20).map { UInt8($0 % 251) })))
    }

    /// Of less than is announced.
    static let shortFile = EncodedResponse(
        ServerResponse(
            status: .ok, fields: [.contentType: "text/plain"],
            file: TemporaryFile.body([UInt8](repeating: 0x61, count: 1_000), announcing: 300_000)))

    /// Told when a task was cancelled, with the path.
    let cancelled: AsyncStream<String>.Continuation?
    /// Called by `/gate` before it answers.
    let gate: @Sendable () async -> Void

    /// Completes the promises of `/later/…`.
    let later: @Sendable (ResponsePromise) -> Void

    /// Called if a promise of `/later/…` is cancelled.
    let calledOff: HandlerResult.CancellationHandler?

    init(
        cancelled: AsyncStream<String>.Continuation? = nil, gate: @escaping @Sendable () async -> Void = {},
        later: @escaping @Sendable (ResponsePromise) -> Void = { $0.complete { Self.pending } },
        calledOff: HandlerResult.CancellationHandler? = nil
    ) {
        self.cancelled = cancelled
        self.gate = gate
        self.later = later
        self.calledOff = calledOff
    }

    static var pending: HandlerResponse {
        .response(ServerResponse(status: .ok, fields: [.contentType: "text/plain"], body: Array("later".utf8)))
    }

    func handle(_ head: borrowing RequestHead, peer: PeerAddress) -> HandlerResult {
        let isRead = head.method == .get || head.method == .head
        if isRead, !head.hasBody, let page = cachedResponse(for: head) { return .cached(page) }
        let path = head.request.path ?? ""
        if isRead, path.hasPrefix("/later/") {
            return .pending(route: "later") { [later, calledOff] promise in
                later(promise)
                return calledOff
            }
        }
        switch path {
        case "/feed" where head.refusal == nil && !isRead: return .methodNotAllowed([.get, .head], route: "feed")
        case "/missing" where head.refusal == nil: return .notFound()
        case "/ten": return .task(RequestTask(bodyLimit: 10, respond: respond))
        case "/upload": return .task(RequestTask(bodyLimit: 64 << 20, streamsBody: true, respond: respond), route: "upload")
        case "/early" where head.refusal == nil: return .respond(Problem(.forbidden, nil, "No.").refusal())
        case "/wait", "/wait-long":
            return .task(RequestTask(cancelsOnPeerClose: path != "/wait-long", timeLimit: .seconds(60), respond: respond))
        default: return .task(RequestTask(respond: respond), route: "echo")
        }
    }

    private func cachedResponse(for head: borrowing RequestHead) -> EncodedResponse? {
        if head.hasTarget("/page") { return Self.page }
        if head.hasTarget("/image") { return Self.image }
        if head.hasTarget("/file") { return Self.file }
        if head.hasTarget("/huge") { return Self.huge }
        if head.hasTarget("/huge-file") { return Self.hugeFile }
        if head.hasTarget("/fresh-file") { return Self.freshFile }
        if head.hasTarget("/short-file") { return Self.shortFile }
        if head.hasTarget("/tomorrow") { return Self.tomorrow }
        return nil
    }

    func refusalFields(_ field: (StaticString) -> String?) -> HTTPFields {
        field("accept-language").map { [.contentLanguage: $0] } ?? [:]
    }

    @Sendable private func respond(_ request: ServerRequest) async -> HandlerResponse { .response(await response(to: request)) }

    private func response(to request: ServerRequest) async -> ServerResponse {
        switch request.head.path {
        case "/upload":
            var (count, sum) = (0, UInt64(0))
            do {
                for try await chunk in request.body {
                    count += chunk.count
                    for byte in chunk { sum = sum &* 31 &+ UInt64(byte) }
                }
            } catch {
                cancelled?.yield("/upload \(error)")
            }
            return ServerResponse(status: .ok, fields: [.contentType: "text/plain"], body: Array("\(count) \(sum)".utf8))
        case "/stream", "/stream-known", "/stream-short", "/stream-long", "/stream-fails":
            return stream(request.head.path ?? "")
        case "/wait", "/wait-long", "/never":
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
            cancelled?.yield(request.head.path ?? "")
            return ServerResponse(status: .ok)
        case "/gate":
            await gate()
            guard !Task.isCancelled else { return Problem(HTTPResponse.Status(code: 499), nil, "The client has left.").refusal() }
            return ServerResponse(status: .ok, fields: [.contentType: "text/plain"], body: Array("through".utf8))
        case "/varied":
            var response = ServerResponse(status: .ok, fields: [.contentType: "text/plain", .vary: "X-One, Origin"])
            response.fields.append(HTTPField(name: .vary, value: "accept-encoding,origin"))
            response.fields.append(HTTPField(name: .vary, value: "X-Two"))
            response.isCompressible = true
            return response
        case "/inject":
            var response = ServerResponse(status: .init(code: 200, reasonPhrase: "OK\r\nX-Reason: yes"), body: [])
            if let name = HTTPField.Name("X-Value") { response.fields[name] = "a\r\nX-Injected: yes" }
            return response
        default:
            var text = "\(request.head.method.rawValue) \(request.head.authority ?? "") \(request.head.path ?? "")\n"
            if let accepted = request.head.headerFields[.acceptLanguage] { text += "\(accepted)\n" }
            return ServerResponse(status: .ok, fields: [.contentType: "text/plain"], body: Array(text.utf8) + (request.body.bytes ?? []))
        }
    }

    private func stream(_ path: String) -> ServerResponse {
        struct Failure: Error {}
        let length: Int? = ["/stream-known": 3000, "/stream-short": 5000, "/stream-long": 2500][path]
        return ServerResponse(status: .ok, fields: [.contentType: "text/plain"], length: length) { writer in
            for number in 0..<3 {
                if path == "/stream-fails", number == 2 { throw Failure() }
                try await writer.write([UInt8](repeating: 0x61 + UInt8(number), count: 1000))
            }
        }
    }
}

/// A file without a name, which goes with the last body in it.
private final class TemporaryFile: Sendable {
    private let descriptor: Int32

    private init(_ bytes: [UInt8]) {
        var path = Array("/tmp/intertwine-body-XXXXXX".utf8CString)
        descriptor = mkstemp(&path)
        unlink(path)
        precondition(write(descriptor, bytes, bytes.count) == bytes.count)
    }

    deinit { close(descriptor) }

    /// It begins behind something else.
    static func body(_ bytes: [UInt8], announcing count: Int? = nil) -> FileBody {
        let file = TemporaryFile([0, 0, 0] + bytes)
        return FileBody(descriptor: file.descriptor, from: 3, count: count ?? bytes.count, owner: file)
    }
}
