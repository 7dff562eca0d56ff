package intertwine.client

import kotlin.math.pow
import kotlin.random.Random
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.delay

/**
 * The retries of requests that can be repeated: reads, deletions, and requests with an idempotency key.
 *
 * ```kotlin
 * val client = FeedClient("https://feeds.example.com", retry = RetryPolicy(maxAttempts = 3, maxDelay = 10.seconds))
 * ```
 *
 * @property maxAttempts the maximum number of attempts, including the first.
 * @property initialDelay the maximum delay before the second attempt; it doubles for each further attempt.
 * @property maxDelay the maximum delay. If a server requests a longer one, the request fails with [FeedProblem.Unavailable].
 */
public class RetryPolicy
internal constructor(
    public val maxAttempts: Int,
    public val initialDelay: Duration,
    public val maxDelay: Duration,
    /** Returns a random factor of the delay from 0 to 1. Why: clients that failed together do not retry together. */
    internal val jitter: () -> Double,
    internal val sleep: suspend (Duration) -> Unit,
) {
    /** Creates a policy. */
    public constructor(
        maxAttempts: Int = 4,
        initialDelay: Duration = 500.milliseconds,
        maxDelay: Duration = 30.seconds,
    ) : this(maxAttempts, initialDelay, maxDelay, { Random.nextDouble() }, { delay(it) })

    /** Returns the delay after an attempt, counted from 1; null if it was the last one. */
    internal fun delayAfter(attempt: Int, retryAfter: Duration?): Duration? =
        when {
            attempt >= maxAttempts -> null
            retryAfter != null -> retryAfter.takeIf { it <= maxDelay }
            else -> backoff(attempt)
        }

    /** Returns a random delay that doubles with each attempt, counted from 1. */
    internal fun backoff(attempt: Int): Duration = minOf(maxDelay, initialDelay * 2.0.pow(minOf(attempt, 30) - 1)) * jitter()
}
