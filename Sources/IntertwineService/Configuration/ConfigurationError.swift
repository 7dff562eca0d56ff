/// A configuration that the service refuses to start with: everything that is wrong with it, one line each.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Each names the key, or the file and the line, and says what is allowed. Never empty.
    public let reasons: [String]

    public init(_ reason: String) {
        reasons = [reason]
    }

    /// Nil where nothing is wrong. What is told twice is told once.
    init?(_ reasons: [String]) {
        guard !reasons.isEmpty else { return nil }
        var told: Set<String> = []
        self.reasons = reasons.filter { told.insert($0).inserted }
    }

    /// All of them in one line.
    public var description: String { reasons.joined(separator: "; ") }

    static func invalid(_ key: String, _ value: String, from origin: SettingOrigin, allowed: String) -> ConfigurationError {
        ConfigurationError("\(key): '\(value)' (\(origin)) is not allowed; allowed: \(allowed)")
    }

    static func unknown(_ key: String, from origin: SettingOrigin, known: [String]) -> ConfigurationError {
        let hint = Spelling.question(for: key, among: known) ?? "Config/intertwine.yaml lists all keys"
        return ConfigurationError("\(key): unknown key (\(origin)); \(hint)")
    }
}

/// Goes on behind a fault, so that all of them can be told at once.
struct FaultCollector {
    private(set) var reasons: [String] = []

    /// What `body` makes; nil where it fails, which is noted.
    @discardableResult
    mutating func collect<Value>(_ body: () throws(ConfigurationError) -> Value) -> Value? {
        do {
            return try body()
        } catch {
            reasons += error.reasons
            return nil
        }
    }

    /// - Throws: ``ConfigurationError`` where anything was noted.
    func finish() throws(ConfigurationError) {
        if let error = ConfigurationError(reasons) { throw error }
    }
}
