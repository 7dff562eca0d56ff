import Foundation
import Synchronization
import TestSupport
import Testing

@testable import IntertwineHTTPServer

@Suite("Request ids")
struct RequestIDTests {
    private final class Observer: HTTPServerObserver {
        let ids = Mutex<[String?]>([])
        var wantsTraces: Bool { true }

        func requestFinished(_ record: RequestRecord) {
            ids.withLock { $0.append(record.requestID?.text) }
        }
    }

    @Test("Every response has a request id, which the log has too")
    func everywhere() async throws {
        let observer = Observer()
        let port = try await TestServer.start(observer: observer).port
        let requests = [
            "GET /page", "HEAD /page", "GET /echo", "GET /later/1", "GET /stream", "GET /stream-known", "GET /huge", "GET /huge-file",
            "POST /feed", "OPTIONS *", "BREW /page", "GET /a%ff", "nonsense",
        ]
        let answered = try await offPool {
            try requests.map { line in
                let client = try RawClient(port: port)
                try client.send("\(line) HTTP/1.1\r\nHost: a\r\n\r\n")
                let method = line.prefix { $0 != " " }
                return try #require(try client.response(to: String(method))["x-request-id"], "\(line)")
            }
        }
        #expect(Set(answered).count == requests.count)
        #expect(answered.allSatisfy { UUID(uuidString: $0) != nil && $0 == $0.lowercased() && $0.dropFirst(14).first == "4" })
        while observer.ids.withLock({ $0.count }) < requests.count { await Task.yield() }
        #expect(Set(observer.ids.withLock { $0 }) == Set(answered))
    }

    @Test("A well-formed id of the client is used", arguments: ["/page", "/echo", "/later/1", "/stream", "/a%ff"])
    func given(path: String) async throws {
        let observer = Observer()
        let port = try await TestServer.start(observer: observer).port
        let good = ["7", "a-b_c.d~!#$%&'*+^`|", String(repeating: "x", count: 128)]
        let bad = ["", "a b", "a,b", "\"a\"", "ä", String(repeating: "x", count: 129)]
        try await offPool {
            for (ids, isTaken) in [(good, true), (bad, false)] {
                for id in ids {
                    let client = try RawClient(port: port)
                    try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\nx-REQUEST-id:  \(id) \r\n\r\n")
                    let answer = try client.response()
                    #expect((answer["x-request-id"] == id) == isTaken, "\(id)")
                    #expect(isTaken || UUID(uuidString: answer["x-request-id"] ?? "") != nil, "\(id)")
                }
            }
        }
        while observer.ids.withLock({ $0.count }) < good.count + bad.count { await Task.yield() }
        #expect(observer.ids.withLock { Array($0.prefix(good.count)) } == good)
    }

    @Test("The first of several ids is used")
    func repeated() async throws {
        let port = try await TestServer.start(observer: Observer()).port
        try await offPool {
            for (ids, expected) in [(["a", "b"], "a"), (["a", "a"], "a"), (["a", "", "c d"], "a"), (["c d", "a"], nil)] {
                let client = try RawClient(port: port)
                try client.send("GET /page HTTP/1.1\r\nHost: a\r\n" + ids.map { "X-Request-ID: \($0)\r\n" }.joined() + "\r\n")
                let answer = try client.response()
                #expect(answer.status == 200)
                #expect(answer["x-request-id"] == expected || expected == nil && UUID(uuidString: answer["x-request-id"] ?? "") != nil)
            }
        }
    }

    @Test("Responses of one batch have different ids")
    func pipelined() async throws {
        let port = try await TestServer.shared.value.port
        try await offPool {
            let client = try RawClient(port: port)
            try client.send((0..<64).map { "GET /page HTTP/1.1\r\nHost: a\r\nX-Request-ID: n\($0)\r\n\r\n" }.joined())
            for number in 0..<64 { #expect(try client.response()["x-request-id"] == "n\(number)") }
        }
    }
}
