package import IntertwineFeed
internal import IntertwineStorageCore

package struct PostgresError: DatabaseFailure, Sendable, Hashable, CustomStringConvertible {
    package var code: String
    package var message: String
    var isConnectionLost: Bool
    var isUncertain = false

    package init(code: String = "", message: String, isConnectionLost: Bool = false) {
        self.code = code
        self.message = Self.line(message)
        self.isConnectionLost = isConnectionLost
    }

    package var description: String { code.isEmpty ? message : "\(message) (\(code))" }

    var isRepeatable: Bool { code == "40001" || code == "40P01" }

    package var storeError: StoreError { storeError(at: "PostgreSQL") }

    func storeError(at place: String, note: String = "") -> StoreError {
        isUncertain ? .uncertain("\(place): \(description)") : .unavailable("\(place): \(description)\(note)")
    }

    private static func line(_ text: String) -> String {
        text.split(whereSeparator: \.isNewline).map { line in
            String(line.drop { $0 == " " || $0 == "\t" })
        }.joined(separator: "; ")
    }
}
