import Foundation

/// A policy for retries with backoff. Only safe requests are repeated: reads, deletions, and requests with an idempotency key.
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, including the first.
    public var attempts: Int
    /// The maximum pause in seconds before the second attempt; it doubles for each further attempt.
    public var first: Double
    /// The maximum pause in seconds. If a server asks for a longer one, the request fails with `unavailable`.
    public var longest: Double
    /// Returns a random factor of the pause (jitter) from 0 to 1, so that clients that failed together do not retry together.
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

    /// A policy with one attempt.
    public static let never = RetryPolicy(attempts: 1)

    /// Returns the pause after an attempt, counted from 1, or nil if it was the last one.
    func pause(after attempt: Int, asked: Double?) -> Double? {
        guard attempt < attempts else { return nil }
        if let asked { return asked <= longest ? asked : nil }
        return min(longest, first * pow(2, Double(min(attempt, 30) - 1))) * draw()
    }
}
