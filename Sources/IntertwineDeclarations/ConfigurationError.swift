/// A configuration that the service refuses to start with: everything that is wrong with it, one line each.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Each names the key, or the file and the line, and says what is allowed. Never empty.
    public let reasons: [String]

    public init(_ reason: String) {
        reasons = [reason]
    }

    /// Nil where nothing is wrong. What is told twice is told once.
    package init?(_ reasons: [String]) {
        guard !reasons.isEmpty else { return nil }
        var told: Set<String> = []
        self.reasons = reasons.filter { told.insert($0).inserted }
    }

    /// All of them in one line.
    public var description: String { reasons.joined(separator: "; ") }
}

/// Goes on behind a fault, so that all of them can be told at once.
package struct ErrorCollector {
    package private(set) var reasons: [String] = []

    package init() {}

    /// What `body` makes; nil where it fails, which is noted.
    @discardableResult
    package mutating func collect<Value>(_ body: () throws(ConfigurationError) -> Value) -> Value? {
        do {
            return try body()
        } catch {
            reasons += error.reasons
            return nil
        }
    }

    /// - Throws: ``ConfigurationError`` where anything was noted.
    package func finish() throws(ConfigurationError) {
        if let error = ConfigurationError(reasons) { throw error }
    }
}
