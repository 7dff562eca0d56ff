import Foundation

/// The fields that authorize requests, shared by all copies of a client. Concurrent refreshes are one call of the closure.
actor Authorization {
    struct Fields {
        let values: [String: String]
        let version: Int
    }

    private let authorize: @Sendable (_ isRefresh: Bool) async throws -> [String: String]
    private var current: Task<Fields, any Error>?
    private var version = 0

    init(_ authorize: @escaping @Sendable (_ isRefresh: Bool) async throws -> [String: String]) {
        self.authorize = authorize
    }

    /// Returns the current fields, or newer ones than those that the server refused.
    func fields(after refused: Fields?) async throws -> Fields {
        if let current, refused == nil || refused?.version != version { return try await value(of: current) }
        version += 1
        let task = Task { [authorize, version] in Fields(values: try await authorize(refused != nil), version: version) }
        current = task
        return try await value(of: task)
    }

    private func value(of task: Task<Fields, any Error>) async throws -> Fields {
        let number = version
        do {
            return try await task.value
        } catch {
            // The next request calls the closure again.
            if number == version { current = nil }
            if let error = error as? URLError { throw FeedClientError.unreachable(reason: "\(error.code)") }
            throw FeedClientError.unauthorized(reason: "\(error)")
        }
    }
}
