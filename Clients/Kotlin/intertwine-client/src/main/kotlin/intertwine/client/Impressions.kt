package intertwine.client

import java.io.Closeable
import java.util.UUID
import kotlin.time.Duration
import kotlin.time.Duration.Companion.hours
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.nanoseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.launch
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/**
 * The condition for an impression.
 *
 * @property share the visible fraction of the cell, from 0 to 1.
 * @property duration the uninterrupted time for which the fraction must be visible.
 */
public data class Viewability(public val share: Double, public val duration: Duration) {
    public companion object {
        /** Reads the condition of an impression action; the default is half of the cell for one second. */
        public fun of(action: CellAction?): Viewability {
            val members = action?.members?.get("viewable")
            val share = (members["share"].number ?: 0.5).coerceIn(0.01, 1.0)
            return Viewability(share, (members["seconds"].number ?: 1.0).coerceIn(0.0, 3600.0).seconds)
        }
    }
}

/**
 * A reporter of impressions, which sends each served impression once, in batches.
 *
 * Call [record] at each scroll and layout with the visible cells, and with an empty list if a dialog covers the list or the app is left.
 * Impressions wait until the server accepts them.
 *
 * ```kotlin
 * val impressions = Impressions(client)
 * impressions.record(listOf(Impressions.VisibleCell(cell, share = 0.8)))
 * ```
 *
 * @param store the storage of impressions that wait, so that they survive the end of the process; null for memory only.
 * @param batchDelay the time during which impressions are collected into a batch.
 * @param clock returns the time of a monotonic clock. The time of day is not one: a user can set it back.
 */
public class Impressions(
    private val client: FeedClient,
    private val store: OutboxStore? = null,
    private val batchDelay: Duration = 2.seconds,
    private val clock: () -> Duration = { System.nanoTime().nanoseconds },
) : Closeable {
    /**
     * A cell on the screen.
     *
     * @property cell the cell.
     * @property share its visible fraction, from 0 to 1.
     * @property isLoaded true if its pictures are loaded. Other cells are not seen.
     */
    public class VisibleCell(public val cell: FeedCell, public val share: Double, public val isLoaded: Boolean = true)

    /** A served impression. An ad that is in the list twice has two tokens. */
    private data class Event(val href: String, val events: JsonArray)

    /** A batch that was sent once takes no further events, so that the server counts it once by its key. */
    private class Batch(
        val href: String,
        /** The viewer who saw the cells. Batches of other viewers are not sent. */
        val viewer: String?,
        var events: List<JsonElement>,
        val key: String = UUID.randomUUID().toString(),
        var isSent: Boolean = false,
    )

    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
    private val lock = Any()
    /** The time at which each visible impression completes. */
    private val sights = HashMap<Event, Duration>()
    private val reported = LinkedHashSet<Event>()
    private val batches = ArrayDeque<Batch>()
    private val sending = Mutex()
    private var timer: Job? = null
    private var flushing: Job? = null
    private var failures = 0
    private var isRestored = store == null

    init {
        if (store != null) synchronized(lock) { sendLater(batchDelay) }
    }

    /** The number of impressions that the server has not accepted yet. */
    public val pendingCount: Int get() = synchronized(lock) { batches.sumOf { it.events.size } }

    /** Sets the visible cells; all other cells are invisible from now on. */
    public fun record(cells: List<VisibleCell>): Unit = synchronized(lock) {
        // Impressions that completed since the last call count, even if their cells are invisible now.
        takeCompleted()
        val visible = HashSet<Event>()
        for (shown in cells) {
            val action = shown.cell.actions[CellSlot.Impression] ?: continue
            val request = action.kind as? CellAction.Kind.Request ?: continue
            val condition = Viewability.of(action)
            val event = Event(request.href, request.body["events"].array ?: continue)
            if (!shown.isLoaded || shown.share < condition.share || event in reported) continue
            visible.add(event)
            if (event !in sights) sights[event] = clock() + condition.duration
        }
        sights.keys.retainAll(visible)
        takeCompleted()
        schedule()
    }

    /** Sends the collected impressions, for example when the app is left or the viewer has signed in. */
    public suspend fun flush() {
        val failure = sending.withLock { sendAll() }
        synchronized(lock) {
            failures = if (failure == null) 0 else failures + 1
            flushing?.cancel()
            flushing = null
            if (failure != null) {
                sendLater((failure as? FeedProblem.Unavailable)?.retryAfter?.coerceAtMost(1.hours) ?: client.retry.backoff(failures + 1))
            } else if (batches.any { it.viewer == client.viewer }) {
                sendLater(batchDelay)
            }
        }
    }

    /** Ends all work. Impressions that wait are lost, except those in the storage; call [flush] before. */
    override fun close(): Unit = scope.cancel()

    private fun schedule() {
        timer?.cancel()
        val next = sights.values.minOrNull() ?: return
        timer = scope.launch {
            client.retry.sleep((next - clock()).coerceAtLeast(1.milliseconds))
            synchronized(lock) {
                takeCompleted()
                schedule()
            }
        }
    }

    private fun takeCompleted() {
        val now = clock()
        for (event in sights.filterValues { it <= now }.keys) {
            sights.remove(event)
            reported.add(event)
            if (reported.size > MAX_REPORTED) reported.iterator().run { next(); remove() }
            enqueue(event)
        }
    }

    private fun enqueue(event: Event) {
        val open = batches.lastOrNull { it.href == event.href && it.viewer == client.viewer && !it.isSent && it.events.size + event.events.size <= BATCH_SIZE }
        if (open != null) open.events += event.events else batches.add(Batch(event.href, client.viewer, event.events))
        while (pendingCount > MAX_PENDING && batches.size > 1) batches.removeFirst()
        if (flushing == null) sendLater(batchDelay)
    }

    private fun sendLater(delay: Duration) {
        flushing = scope.launch {
            client.retry.sleep(delay)
            // Not cancelled by the flush itself.
            synchronized(lock) { flushing = null }
            flush()
        }
    }

    /** Sends the batches in order. Returns the problem of the first one that must be sent again. */
    private suspend fun sendAll(): FeedProblem? {
        restore()
        while (true) {
            val batch = synchronized(lock) { batches.firstOrNull { it.viewer == client.viewer }?.apply { isSent = true } } ?: return null
            save()
            try {
                client.submit("POST", batch.href, JsonObject(mapOf("events" to JsonArray(batch.events))), batch.key, "results")
            } catch (problem: FeedProblem) {
                if (problem.isRetryable || problem.needsSignIn) return problem
                // The server would refuse the batch again.
            }
            synchronized(lock) { batches.remove(batch) }
            withContext(NonCancellable) { save() }
        }
    }

    private suspend fun restore() {
        if (isRestored) return
        val stored = withContext(Dispatchers.IO) { store?.load().orEmpty() }.mapNotNull(::batch)
        synchronized(lock) { batches.addAll(0, stored) }
        isRestored = true
    }

    private suspend fun save() {
        if (store == null) return
        val stored = synchronized(lock) {
            batches.map {
                val texts = mapOf("key" to it.key, "href" to it.href, "viewer" to it.viewer)
                JsonObject(texts.mapValues { text -> JsonPrimitive(text.value) } + ("events" to JsonArray(it.events)))
            }
        }
        withContext(Dispatchers.IO) { store.save(JsonArray(stored)) }
    }

    private fun batch(value: JsonElement): Batch? {
        val key = value["key"].text ?: return null
        val href = value["href"].text ?: return null
        return Batch(href, value["viewer"].text, value["events"].array ?: return null, key, isSent = true)
    }

    private companion object {
        /** The maximum number of events in one request; the server accepts 500. */
        const val BATCH_SIZE = 100
        /** The maximum number of waiting events. Beyond it, the oldest are dropped. */
        const val MAX_PENDING = 1000
        /** The maximum number of remembered impressions, which are not reported again. */
        const val MAX_REPORTED = 10_000
    }
}
