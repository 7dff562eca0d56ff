package import IntertwineFeed
internal import IntertwineStorageCore

/// A failure of PostgreSQL or of the connection to it. Its description is one line without a password.
package struct PostgresError: DatabaseFailure, Sendable, Hashable, CustomStringConvertible {
    /// The SQLSTATE; empty if the server sent none, as it was unreachable or the connection was lost.
    package var code: String
    package var message: String
    /// True if the session has ended.
    var isConnectionLost: Bool
    /// True if the session ended during a commit, whose outcome is not known.
    var isUncertain = false

    package init(code: String = "", message: String, isConnectionLost: Bool = false) {
        self.code = code
        self.message = Self.line(message)
        self.isConnectionLost = isConnectionLost
    }

    package var description: String { code.isEmpty ? message : "\(message) (\(code))" }

    /// True if a retry of the transaction may succeed: a serialization failure (40001) or deadlock (40P01) rolled it back.
    var isRepeatable: Bool { code == "40001" || code == "40P01" }

    /// The `StoreError` for a request that meets this failure.
    package var storeError: StoreError { storeError(at: "PostgreSQL") }

    /// - Parameter note: What follows if the write was not done.
    func storeError(at place: String, note: String = "") -> StoreError {
        isUncertain ? .uncertain("\(place): \(description)") : .unavailable("\(place): \(description)\(note)")
    }

    /// libpq writes one line for each host, and a final line break.
    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).map { line in
            String(line.drop { $0 == " " || $0 == "\t" })
        }.joined(separator: "; ")
    }
}
