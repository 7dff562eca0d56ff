import Foundation
import Synchronization
import TestSupport

/// A JSON API of users in pages, whose list and behaviour a test changes while it runs. Every answer is of one version, unless the test
/// changes the version between two pages.
final class Api: Sendable {
    struct State: Sendable {
        var version = 1
        var ids: [String] = []
        var perPage = 2
        var hasValidators = true
        var isCompressed = false
        /// Instead of the usual answer; nil for that.
        var instead: (@Sendable (Origin.Request, OriginConnection) -> Bool)?
        /// Called before each answer, with the number of the request.
        var before: (@Sendable (Int, inout State) -> Void)?
        var requests = 0
    }

    /// Captured by the origin before the API itself is there.
    final class Box: Sendable {
        private let mutex: Mutex<State>

        init(_ state: State) { mutex = Mutex(state) }

        func withLock<Value: Sendable>(_ body: (inout sending State) -> sending Value) -> Value { mutex.withLock(body) }
    }

    let state: Box
    let origin: Origin

    init(_ ids: [String], _ adjust: (inout State) -> Void = { _ in }) throws {
        var first = State()
        first.ids = ids
        adjust(&first)
        let state = Box(first)
        self.state = state
        origin = try Origin { request, connection in Self.answer(request, connection, state) }
    }

    func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
    }

    /// A new version of the list.
    func publish(_ ids: [String]) {
        change { state in
            state.version += 1
            state.ids = ids
        }
    }

    static func user(_ id: String, version: Int) -> String {
        #"{"id":"\#(id)","username":"v\#(version)","avatarUrl":"https://example.com/\#(id).png","type":"regular"}"#
    }

    private static func answer(_ request: Origin.Request, _ connection: OriginConnection, _ state: Box) {
        let now = state.withLock { state in
            state.requests += 1
            let before = state.before
            before?(state.requests, &state)
            return state
        }
        if let instead = now.instead, instead(request, connection) { return }
        let page = Int(request.path.split(separator: "=").last ?? "") ?? 0
        let tag = "\"v\(now.version)-\(page)\""
        var fields = now.hasValidators ? ["ETag: \(tag)"] : []
        if now.hasValidators, request.headers["if-none-match"] == tag {
            connection.send("HTTP/1.1 304 Not Modified\r\nETag: \(tag)\r\n\r\n")
            return
        }
        let ids = now.ids.dropFirst(page * now.perPage).prefix(now.perPage)
        let hasNext = (page + 1) * now.perPage < now.ids.count
        if hasNext { fields.append("Link: </users?page=\(page + 1)>; rel=\"next\"") }
        let next = hasNext ? "\"\(page + 1)\"" : "null"
        let body =
            #"{"data":{"users":["# + ids.map { user($0, version: now.version) }.joined(separator: ",") + #"]},"meta":{"next":"#
            + #"\#(next),"url":\#(hasNext ? "\"/users?page=\(page + 1)\"" : "null"),"template":"#
            + #"\#(hasNext ? "\"/users?page=\(page + 1){&size,sort*}\"" : "null")}}"#
        let bytes = Array(body.utf8)
        let isCompressed = now.isCompressed && request.headers["accept-encoding"]?.contains("gzip") == true
        if isCompressed { fields.append("Content-Encoding: gzip") }
        connection.answer(200, fields, body: isCompressed ? gzipped(bytes) : bytes)
    }
}
