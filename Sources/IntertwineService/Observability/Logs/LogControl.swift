internal import Logging
internal import Synchronization

/// What is logged, and in which form. Changed at any time, by one thread or another, and in force at once.
public final class LogControl: Sendable {
    private let levelIndex: Atomic<Int>
    private let isJSON: Atomic<Bool>
    private let requests: Atomic<Bool>
    private let perSecond: Atomic<Int>

    public init(_ settings: LogSettings) {
        levelIndex = Atomic(Self.index(of: settings.level))
        isJSON = Atomic(settings.format == .json)
        requests = Atomic(settings.requests)
        perSecond = Atomic(settings.requestsPerSecond)
    }

    public func apply(_ settings: LogSettings) {
        levelIndex.store(Self.index(of: settings.level), ordering: .relaxed)
        isJSON.store(settings.format == .json, ordering: .relaxed)
        requests.store(settings.requests, ordering: .relaxed)
        perSecond.store(settings.requestsPerSecond, ordering: .relaxed)
    }

    var level: Logger.Level {
        let index = levelIndex.load(ordering: .relaxed)
        return Logger.Level.allCases.indices.contains(index) ? Logger.Level.allCases[index] : .info
    }

    var writesJSON: Bool { isJSON.load(ordering: .relaxed) }

    /// Whether each request gets a line.
    var logsRequests: Bool { requests.load(ordering: .relaxed) && levelIndex.load(ordering: .relaxed) <= Self.info }

    /// Requests that get a line within a second.
    var requestsPerSecond: Int { perSecond.load(ordering: .relaxed) }

    private static let info = index(of: .info)

    private static func index(of level: LogSettings.Level) -> Int {
        Logger.Level.allCases.firstIndex { $0.rawValue == level.rawValue } ?? 2
    }
}
