import Foundation

/// How often a request is tried, and how long it waits in between. Only what may safely be sent twice is: what reads, what deletes, and
/// what bears an idempotency key.
public struct RetryPolicy: Sendable {
    /// In all.
    public var attempts: Int
    /// Seconds before the second attempt at most; each further one may wait for twice as long.
    public var first: Double
    /// Seconds at most. A server that asks for more is told as `unavailable`.
    public var longest: Double
    /// Of 0 to 1: draws how much of the pause is waited for, so that clients that fell silent together do not come back together.
    public var draw: @Sendable () -> Double
    public var sleep: @Sendable (_ seconds: Double) async throws -> Void

    public init(
        attempts: Int = 4, first: Double = 0.5, longest: Double = 30, draw: @escaping @Sendable () -> Double = { .random(in: 0...1) },
        sleep: @escaping @Sendable (_ seconds: Double) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }
    ) {
        self.attempts = max(1, attempts)
        self.first = first
        self.longest = longest
        self.draw = draw
        self.sleep = sleep
    }

    /// One attempt, no more.
    public static let never = RetryPolicy(attempts: 1)

    /// The pause behind an attempt, counted from 1; nil where there is no further one.
    func pause(after attempt: Int, asked: Double?) -> Double? {
        guard attempt < attempts else { return nil }
        if let asked { return asked <= longest ? asked : nil }
        return min(longest, first * pow(2, Double(min(attempt, 30) - 1))) * draw()
    }
}
