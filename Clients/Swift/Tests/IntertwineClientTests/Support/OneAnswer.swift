import Foundation

@testable import IntertwineClient

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Answers everything alike; nil is a connection that fails.
final class OneAnswer: Transport {
    private let answer: HTTPAnswer?
    private let asked = Locked(0)

    init(_ answer: HTTPAnswer?) {
        self.answer = answer
    }

    var count: Int { asked.withLock { $0 } }

    func send(_ request: URLRequest, limit: Int) async throws -> HTTPAnswer {
        asked.withLock { $0 += 1 }
        guard let answer else { throw URLError(.cannotConnectToHost) }
        return answer
    }

    func stream(_ request: URLRequest) async throws -> HTTPStream {
        throw URLError(.cannotConnectToHost)
    }
}
