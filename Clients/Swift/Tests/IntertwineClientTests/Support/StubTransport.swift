import Foundation

@testable import IntertwineClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A transport with a fixed response; nil fails every connection.
final class StubTransport: Transport {
    private let response: HTTPResponse?
    private let requestCount = LockedBox(0)

    init(_ response: HTTPResponse?) {
        self.response = response
    }

    var count: Int { requestCount.withLock { $0 } }

    func send(_ request: URLRequest, limit: Int) async throws -> HTTPResponse {
        requestCount.withLock { $0 += 1 }
        guard let response else { throw URLError(.cannotConnectToHost) }
        return response
    }

    func stream(_ request: URLRequest) async throws -> HTTPResponseStream {
        throw URLError(.cannotConnectToHost)
    }
}
