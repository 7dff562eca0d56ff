package import IntertwineFeed

/// What PostgreSQL, or the way to it, failed with. One line, in which no password stands.
package struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The SQLSTATE; empty where the server said none, as it was not reached or went away.
    package var code: String
    package var message: String
    /// Whether the session is over.
    package var isConnectionLost: Bool

    package init(code: String = "", message: String, isConnectionLost: Bool = false) {
        self.code = code
        self.message = Self.line(message)
        self.isConnectionLost = isConnectionLost
    }

    package var description: String { code.isEmpty ? message : "\(message) (\(code))" }

    /// Whether the same transaction, begun anew, may well succeed: it was in the way of another one, and was taken back.
    package var isRepeatable: Bool { code == "40001" || code == "40P01" }

    /// What it means to a request that is under way.
    package var storeError: StoreError { .unavailable("PostgreSQL: \(description)") }

    /// libpq tells of each host on a line of its own, and ends with a line break.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).map { line in
            String(line.drop { $0 == " " || $0 == "\t" })
        }.joined(separator: "; ")
    }
}

extension StoreError {
    /// Runs `body`, turning failures of PostgreSQL into `unavailable` and leaving all others as they are.
    package static func wrappingPostgres<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as PostgresError {
            throw error.storeError
        }
    }
}
