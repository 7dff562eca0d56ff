import Foundation

/// A policy for retries with backoff. Only safe requests are repeated: reads, deletions, and requests with an idempotency key.
///
/// ```swift
/// let retry = RetryPolicy(maxAttempts: 3, initialDelay: 1, maxDelay: 10)
/// let client = FeedClient(base: base, retry: retry)
/// ```
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts, including the first.
    public var maxAttempts: Int
    /// The maximum delay in seconds before the second attempt; it doubles for each further attempt.
    public var initialDelay: Double
    /// The maximum delay in seconds. If a server asks for a longer one, the request fails with `unavailable`.
    public var maxDelay: Double
    /// Returns a random factor of the delay (jitter) from 0 to 1, so that clients that failed together do not retry together.
    public var jitter: @Sendable () -> Double
    /// Waits; throws if the task is cancelled.
    public var sleep: @Sendable (_ seconds: Double) async throws -> Void

    /// Creates a policy. Tests replace `jitter` and `sleep`.
    public init(
        maxAttempts: Int = 4, initialDelay: Double = 0.5, maxDelay: Double = 30,
        jitter: @escaping @Sendable () -> Double = { .random(in: 0...1) },
        sleep: @escaping @Sendable (_ seconds: Double) async throws -> Void = { try await Task.sleep(for: .seconds($0)) }
    ) {
        self.maxAttempts = max(1, maxAttempts)
        self.initialDelay = initialDelay
        self.maxDelay = maxDelay
        self.jitter = jitter
        self.sleep = sleep
    }

    /// A policy with one attempt.
    public static let never = RetryPolicy(maxAttempts: 1)

    /// Returns the delay after an attempt, counted from 1, or nil if it was the last one.
    func delay(after attempt: Int, retryAfter: Double?) -> Double? {
        guard attempt < maxAttempts else { return nil }
        if let retryAfter { return retryAfter <= maxDelay ? retryAfter : nil }
        return backoff(after: attempt)
    }

    /// Returns the delay after a number of failures, from 1.
    func backoff(after failures: Int) -> Double { min(maxDelay, initialDelay * pow(2, Double(min(failures, 30) - 1))) * jitter() }
}
