/// A configuration that the service refuses to start with, with all its errors, one line each.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The errors. Each names the key, or the file and the line, and states the allowed values. Never empty.
    public let reasons: [String]

    /// Creates an error with one reason.
    ///
    /// ```swift
    /// let error = ConfigurationError("server.port: '70000' is not allowed; allowed: a whole number from 0 to 65535")
    /// let count = error.reasons.count  // 1
    /// ```
    public init(_ reason: String) {
        reasons = [reason]
    }

    init(wrapping error: any Error) {
        self = error as? ConfigurationError ?? ConfigurationError("\(error)")
    }

    /// Runs a function whose errors are errors of the configuration.
    static func wrap<Value>(_ body: () throws -> Value) throws(ConfigurationError) -> Value {
        do { return try body() } catch { throw ConfigurationError(wrapping: error) }
    }

    package init?(_ reasons: [String]) {
        guard !reasons.isEmpty else { return nil }
        var shown: Set<String> = []
        self.reasons = reasons.filter { shown.insert($0).inserted }
    }

    /// All reasons in one line.
    public var description: String { reasons.joined(separator: "; ") }
}

/// A collector that continues after an error, so that all errors are reported together.
struct ErrorCollector {
    var reasons: [String] = []

    @discardableResult
    mutating func collect<Value>(_ body: () throws -> Value) -> Value? {
        do {
            return try body()
        } catch {
            reasons += ConfigurationError(wrapping: error).reasons
            return nil
        }
    }

    func finish() throws(ConfigurationError) {
        if let error = ConfigurationError(reasons) { throw error }
    }
}
