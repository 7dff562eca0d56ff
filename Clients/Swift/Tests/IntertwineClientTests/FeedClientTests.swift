import Foundation
import Testing

@testable import IntertwineClient

/// A page with one cell and a next page.
private let pageText =
    #"{"cells": [{"id": "user:a", "identifier": "X"}], "page": {"next": "/feed?cursor=b", "previous": null, "syncToken": "A"}}"#

/// Tests the client with a failing server.
@Suite struct FeedClientTests {
    private let delays = Delays()

    private func page(of client: FeedClient) async throws -> FeedPage { try await client.page(client.url()) }

    /// A truncated head is tested on Apple's systems only: it terminates the process with FoundationNetworking ("Transfer completed, but
    /// there's no response").
    private static let failures: [(String, [FaultyServer.Step])] = {
        var failures: [(String, [FaultyServer.Step])] = [
            ("dropped", []), ("half a body", [.send("HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n{\"cells\": [")]),
            ("half a chunk", [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{\"cells\": [")]),
            ("reset in the middle", [.send("HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n{\"cells\": ["), .reset]),
            ("wrong JSON", FaultyServer.respond(200, "{\"cells\": [")),
            ("another type", FaultyServer.respond(200, "<h1>Welcome</h1>", fields: ["Content-Type: text/html"])),
            ("502", FaultyServer.respond(502)), ("503", FaultyServer.respond(503)), ("504", FaultyServer.respond(504)),
            ("too many", FaultyServer.respond(429)),
        ]
        #if !canImport(FoundationNetworking)
            failures += [("a head cut short", [.send("HTTP/1.1 200 OK\r\nContent-Le")]), ("no HTTP", [.send("\0\0\0\0\r\n\r\n")])]
        #endif
        return failures
    }()

    @Test(arguments: failures)
    func retriesAfterATemporaryFailure(_ name: String, _ failure: [FaultyServer.Step]) async throws {
        let server = FaultyServer { _, number in number < 2 ? failure : FaultyServer.respond(200, pageText) }
        defer { server.stop() }
        let response = try await page(of: FeedClient(base: server.base, retry: delays.policy()))
        #expect(response.cells.map(\.id) == ["user:a"], "\(name)")
        #expect(server.requests.count == 3, "\(name)")
        #expect(delays.all == [0.5, 1], "\(name)")
    }

    @Test(arguments: [[.send("HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n{"), .awaitClose], [.awaitClose]] as [[FaultyServer.Step]])
    func retriesAfterATimeout(_ steps: [FaultyServer.Step]) async throws {
        let server = FaultyServer { _, number in number == 0 ? steps : FaultyServer.respond(200, pageText) }
        defer { server.stop() }
        let client = FeedClient(base: server.base, retry: delays.policy(), transport: URLSessionTransport(timeout: 1))
        #expect(try await page(of: client).cells.map(\.id) == ["user:a"])
        #expect(server.requests.count >= 2, "a slow machine may cause further timeouts")
    }

    @Test func reportsThatNoServerListens() async throws {
        let server = FaultyServer { _, _ in [] }
        server.stop()
        let client = FeedClient(base: server.base, retry: delays.policy())
        await #expect {
            try await page(of: client)
        } throws: {
            if case .unreachable? = $0 as? FeedClientError { true } else { false }
        }
        #expect(delays.all == [0.5, 1, 2])
    }

    /// Redirects are not followed, and 304 is invalid without a cached page.
    @Test(arguments: [301, 302, 303, 307, 308, 304, 400, 404, 410, 500])
    func rejectsOtherStatusesForAPage(_ status: Int) async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(status, fields: status < 304 ? ["Location: https://example.com/feed"] : [])
        }
        defer { server.stop() }
        let client = FeedClient(base: server.base, retry: delays.policy())
        await #expect {
            try await page(of: client)
        } throws: {
            switch $0 as? FeedClientError {
            case .refused(let problem)?: problem.status == status && (status == 304 || status >= 400)
            case .signInRequired(let redirect, _)?: redirect == status && (300..<400).contains(status)
            default: false
            }
        }
        #expect(server.requests.count == 1)
    }

    @Test func waitsForTheRequestedDelay() async throws {
        let server = FaultyServer { _, number in
            number == 0 ? FaultyServer.respond(503, fields: ["Retry-After: 7"]) : FaultyServer.respond(200, pageText)
        }
        defer { server.stop() }
        _ = try await page(of: FeedClient(base: server.base, retry: delays.policy()))
        #expect(delays.all == [7])
    }

    @Test func failsIfTheRequestedDelayIsTooLong() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(503, fields: ["Retry-After: 3600"]) }
        defer { server.stop() }
        let client = FeedClient(base: server.base, retry: delays.policy())
        let problem = FeedProblem(title: "The server answered 503", status: 503)
        await #expect(throws: FeedClientError.unavailable(problem, retryAfter: 3600)) { try await page(of: client) }
        #expect(delays.all.isEmpty)
    }

    @Test func failsAfterTheMaximumNumberOfAttempts() async throws {
        let server = FaultyServer { _, _ in [] }
        defer { server.stop() }
        let client = FeedClient(base: server.base, retry: delays.policy())
        await #expect { try await page(of: client) } throws: { ($0 as? FeedClientError)?.isRetryable == true }
        #expect(server.requests.count == 4)
    }

    @Test func retriesAPostOnlyWithAKey() async throws {
        let server = FaultyServer { _, _ in [] }
        defer { server.stop() }
        let client = FeedClient(base: server.base, retry: delays.policy())
        _ = try? await client.submit("POST", "/x", body: nil, key: nil)
        #expect(server.requests.count == 1)
        _ = try? await client.submit("POST", "/x", body: .array([]), key: "k")
        #expect(server.requests.count == 5)
        #expect(server.requests.dropFirst().allSatisfy { $0.fields["idempotency-key"] == "k" && $0.body == Data("[]".utf8) })
    }

    @Test func refusedRequestsAreNotRetried() async throws {
        let server = FaultyServer { _, _ in
            FaultyServer.respond(400, #"{"type": "/problems/x", "title": "Invalid", "status": 400, "detail": "limit"}"#)
        }
        defer { server.stop() }
        let client = FeedClient(base: server.base, retry: delays.policy())
        let problem = FeedProblem(type: "/problems/x", title: "Invalid", status: 400, detail: "limit")
        await #expect(throws: FeedClientError.refused(problem)) { try await page(of: client) }
        #expect(server.requests.count == 1)
    }

    @Test func validatesACachedResponse() async throws {
        let server = FaultyServer { request, _ in
            request.fields["if-none-match"] == "\"1\""
                ? FaultyServer.respond(304) : FaultyServer.respond(200, pageText, fields: ["ETag: \"1\""])
        }
        defer { server.stop() }
        let client = FeedClient(base: server.base, retry: .never)
        let first = try await page(of: client)
        let second = try await page(of: client)
        #expect(first == second)
        #expect(server.requests.map { $0.fields["if-none-match"] } == [nil, "\"1\""])
        var other = client
        other.viewer = "other"
        _ = try await page(of: other)
        #expect(server.requests.last?.fields["if-none-match"] == nil, "the cache distinguishes viewers")
    }

    @Test func sendsTheViewerToItsOwnServerOnly() async throws {
        let elsewhere = FaultyServer { _, _ in FaultyServer.respond(200, pageText) }
        let server = FaultyServer { _, _ in FaultyServer.respond(200, pageText) }
        defer {
            elsewhere.stop()
            server.stop()
        }
        var client = FeedClient(base: server.base, viewer: "me", retry: .never)
        client.languages = ["de", "en"]
        let registry = CellRegistry<String>()
        registry.register("X", version: 2, make: { "" }, bind: { _, _ in })
        registry.register("9 \"X\"", make: { "" }, bind: { _, _ in })
        client.capabilities = registry.capabilities
        _ = try await page(of: client)
        _ = try await client.page(elsewhere.base.appending(path: "feed"))
        #expect(server.requests.first?.fields["x-viewer-id"] == "me")
        #expect(server.requests.first?.fields["accept-language"] == "de, en;q=0.9")
        #expect(server.requests.first?.fields["accept-cells"] == "\"9 \\\"X\\\"\", X;v=2, *;q=0")
        #expect(elsewhere.requests.first?.fields["x-viewer-id"] == nil)
        #expect(throws: FeedClientError.invalidLink("file:///etc/passwd")) { try client.url("file:///etc/passwd") }
    }

    @Test func refreshesTheAuthorizationOnceForConcurrentRequests() async throws {
        let server = FaultyServer { request, _ in
            switch request.fields["authorization"] {
            case "new" where request.fields["x-app"] == "1": FaultyServer.respond(200, pageText)
            default: FaultyServer.respond(401)
            }
        }
        defer { server.stop() }
        let calls = LockedBox<[Bool]>([])
        var client = FeedClient(base: server.base, retry: .never)
        client.headers = ["X-App": "1"]
        client.authorize = { isRefresh in
            calls.withLock { $0.append(isRefresh) }
            return ["Authorization": isRefresh ? "new" : "old"]
        }
        let clients = [FeedClient](repeating: client, count: 5)
        try await withThrowingTaskGroup { group in
            for client in clients { group.addTask { try await page(of: client).cells.count } }
            for try await count in group { #expect(count == 1) }
        }
        #expect(calls.withLock { $0 } == [false, true])
        let elsewhere = FaultyServer { _, _ in FaultyServer.respond(401) }
        defer { elsewhere.stop() }
        await #expect(throws: FeedClientError.self) { try await client.page(elsewhere.base.appending(path: "feed")) }
        #expect(elsewhere.requests.map { $0.fields["authorization"] } == [nil], "another server gets no credentials")
        #expect(elsewhere.requests.map { $0.fields["x-app"] } == [nil])
    }

    @Test func aFailedAuthorizationIsAnError() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(401) }
        defer { server.stop() }
        var client = FeedClient(base: server.base, retry: .never)
        client.authorize = { isRefresh in
            if isRefresh { throw CocoaError(.userCancelled) }
            return ["Authorization": "old"]
        }
        await #expect {
            try await page(of: client)
        } throws: {
            if case .unauthorized? = $0 as? FeedClientError { true } else { false }
        }
        let list = FeedList(client: client)
        await #expect(throws: FeedClientError.self) { for try await _ in list.updates() {} }
        client.authorize = { _ in throw URLError(.notConnectedToInternet) }
        await #expect { try await page(of: client) } throws: { ($0 as? FeedClientError)?.isRetryable == true }
        client.authorize = { _ in ["Authorization": "refused"] }
        await #expect {
            try await page(of: client)
        } throws: {
            if case .refused(let problem)? = $0 as? FeedClientError { problem.status == 401 } else { false }
        }
    }

    @Test func cancellingClosesTheConnection() async throws {
        let server = FaultyServer { _, _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n{"), .awaitClose] }
        defer { server.stop() }
        let client = FeedClient(base: server.base, retry: .never)
        let task = Task { try await page(of: client) }
        await server.events.first { if case .request = $0 { true } else { false } }
        task.cancel()
        await server.events.first { if case .closed = $0 { true } else { false } }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func redirectsAreRefusedAndNotFollowed() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(303, fields: ["Location: https://login.example.com/"]) }
        defer { server.stop() }
        let client = FeedClient(base: server.base, retry: .never)
        let refusal = await #expect(throws: FeedClientError.self) {
            try await client.submit("POST", "/cells/ad:1/selection", body: nil, key: "k")
        }
        #expect(refusal == .signInRequired(status: 303, location: "https://login.example.com/"))
        #expect(server.requests.count == 1)
    }

    @Test func aResponseHasAMaximumLength() async throws {
        let server = FaultyServer { _, _ in FaultyServer.respond(200, String(repeating: " ", count: 100_000) + "{}") }
        defer { server.stop() }
        var client = FeedClient(base: server.base, retry: .never)
        client.maxResponseBytes = 10_000
        await #expect(throws: FeedClientError.invalidResponse(reason: "the response is too long")) { try await page(of: client) }
    }
}
