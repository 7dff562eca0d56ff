package intertwine.client

import java.io.IOException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.buffer
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.isActive
import kotlinx.coroutines.launch
import kotlinx.coroutines.supervisorScope
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/**
 * An ordered, sectioned list of the cells of a feed, which is synchronized with the server while [updates] is collected.
 *
 * ```kotlin
 * val list = FeedList(client)
 * list.updates.collect { update -> show(update.sections) }
 * ```
 *
 * [loadNext] appends a page, for example at the end of the screen. A list needs no closing: it has no coroutine of its own.
 *
 * @property client the client that sends the requests.
 * @property url the first page, a result of [FeedClient.url]. Pages without `changes=true` can only be reloaded.
 */
public class FeedList(public val client: FeedClient, public val url: String = client.url()) {
    /** The method of synchronization. */
    public enum class SyncMode {
        /** Receives server-sent events, and polls if the server does not send them. */
        Live,
        /** Requests changes periodically. */
        Polling,
        /** Requests nothing: the app calls [loadNext] and [refresh]. Also for a second collector of a list. */
        Manual,
    }

    private class Snapshot(val revision: Int, val sections: List<FeedSection>, val isAtEnd: Boolean)

    private val state = FeedListState(url)
    private val snapshots = MutableStateFlow(Snapshot(0, emptyList(), false))

    /** Held by the requests that change the pages, so that concurrent calls share one request. */
    private val loading = Mutex()

    /** Counts the changes of the pages. A response to a request of an earlier version is discarded. */
    private var version = 0
    private var visible = 0..0
    private var streaming: Job? = null
    private var lastEventId: String? = null

    /** False if the server is known to reject requests for changes with a body. */
    @Volatile private var acceptsBody = true

    /** The updates in the mode [SyncMode.Live]; see the function of this name. */
    public val updates: Flow<FeedUpdate> get() = updates()

    /**
     * Returns the updates, each from the last received state to the current state. The first one is from an empty list. While the flow is
     * collected, the list loads its first page and is synchronized.
     *
     * A slow collector gets fewer and larger updates. The flow fails with a [FeedProblem] if the server refuses the list; after other
     * problems it retries.
     *
     * ```kotlin
     * list.updates(FeedList.SyncMode.Polling, interval = 30.seconds).collect { update -> show(update.sections) }
     * ```
     *
     * @param interval the time between two requests, if the list is polled.
     */
    public fun updates(mode: SyncMode = SyncMode.Live, interval: Duration = 10.seconds): Flow<FeedUpdate> =
        flow {
            coroutineScope {
                if (mode != SyncMode.Manual) launch { synchronize(mode, interval) }
                var shown = emptyList<FeedSection>()
                var last: FeedUpdate? = null
                snapshots.collect { snapshot ->
                    if (snapshot.revision == 0) return@collect
                    val update = FeedUpdate.between(shown, snapshot.sections, snapshot.isAtEnd)
                    if (update.isEmpty && last?.isAtEnd == update.isAtEnd) return@collect
                    shown = snapshot.sections
                    last = update
                    emit(update)
                }
            }
        }.buffer(Channel.RENDEZVOUS).flowOn(Dispatchers.Default)

    /** The shown sections: all cells of the loaded pages except hidden ones. */
    public val sections: List<FeedSection> get() = snapshots.value.sections

    /** The number of loaded pages. */
    public val pageCount: Int get() = synchronized(state) { state.pages.size }

    /** True if the last page is loaded. */
    public val isAtEnd: Boolean get() = synchronized(state) { state.next == null }

    /**
     * Appends the next page. Concurrent calls share one request. Returns false at the end of the feed.
     *
     * ```kotlin
     * if (!list.isAtEnd) list.loadNext()
     * ```
     */
    public suspend fun loadNext(): Boolean {
        val pages = pageCount
        return loading.withLock {
            // Another call has appended the page in the meantime.
            if (pageCount > pages) true else load()
        }
    }

    /** Loads as many pages again as are loaded, at least one. Cells that are still in the feed stay. */
    public suspend fun reload() {
        val before = synchronized(state) { version }
        loading.withLock { if (before == synchronized(state) { version }) reloadPages() }
    }

    /** Requests the changes of the pages around the visible cells, and applies them. */
    public suspend fun refresh() {
        if (pageCount > 0) loading.withLock { requestChanges() }
    }

    /**
     * Sets the range of visible cells, counted through all sections without headers. In long lists, changes are requested around it.
     *
     * ```kotlin
     * list.setVisibleRange(layoutManager.findFirstVisibleItemPosition()..layoutManager.findLastVisibleItemPosition())
     * ```
     */
    public fun setVisibleRange(cells: IntRange): Unit = synchronized(state) { visible = cells }

    /** Hides a cell until the server removes it, or [unhide] shows it again at its position. */
    public fun hide(id: String): Unit = change { state.setHidden(id, true) }

    /** Shows a hidden cell again. */
    public fun unhide(id: String): Unit = change { state.setHidden(id, false) }

    // Pages

    private suspend fun load(): Boolean {
        val before: Int
        val next: String
        synchronized(state) {
            before = version
            next = state.next ?: return false
        }
        val page = client.page(next)
        currentCoroutineContext().ensureActive()
        return synchronized(state) {
            if (before == version) changePages { state.append(page) }
            true
        }
    }

    private suspend fun reloadPages() {
        val fresh = ArrayList<FeedPage>()
        var next: String? = url
        val count = maxOf(1, pageCount)
        while (next != null && fresh.size < count) {
            val page = client.page(next)
            fresh.add(page)
            next = page.next
        }
        synchronized(state) { changePages { state.replace(fresh, next) } }
    }

    private suspend fun requestChanges() {
        val before: Int
        val window: FeedListState.Window?
        synchronized(state) {
            before = version
            window = state.window(visibleEntries(), if (acceptsBody) MAX_BODY_LENGTH else MAX_LINE_LENGTH)
        }
        if (window == null) return reloadPages()
        val value: JsonElement
        if (window.syncTokens.sumOf { it.length + 1 } <= MAX_LINE_LENGTH) {
            val response = client.get(changesHref(window))
            if (!response.isFresh) return
            value = response.value
        } else {
            try {
                value = client.query(changesPath(), JsonObject(mapOf("syncTokens" to JsonArray(window.syncTokens.map(::JsonPrimitive)))))
            } catch (problem: FeedProblem.Refused) {
                if (problem.details.status !in setOf(404, 405, 501)) throw problem
                acceptsBody = false
                return requestChanges()
            }
        }
        if (before != synchronized(state) { version }) return
        val response = FeedChanges.of(value, client.base) ?: throw FeedProblem.InvalidResponse("The response has no changes.")
        if (!apply(response, window)) reloadPages()
    }

    /** Returns false if the pages must be loaded again. */
    private fun apply(response: FeedChanges.Response, window: FeedListState.Window): Boolean =
        synchronized(state) {
            val changes = response.changes ?: return false
            if (!state.apply(changes, window)) return false
            version += 1
            notifyCollectors()
            true
        }

    /** Changes the pages, and ends the stream of events, which is about the pages before. */
    private fun changePages(change: () -> Unit) {
        change()
        version += 1
        lastEventId = null
        streaming?.cancel()
        notifyCollectors()
    }

    private fun change(change: () -> Unit): Unit = synchronized(state) {
        change()
        notifyCollectors()
    }

    private fun notifyCollectors() {
        snapshots.value = Snapshot(snapshots.value.revision + 1, FeedSection.of(state.entries), state.next == null)
    }

    /** The visible range as entries, including headers and hidden cells. */
    private fun visibleEntries(): IntRange {
        var shown = 0
        var first: Int? = null
        for ((index, entry) in state.entries.withIndex()) {
            if (entry.isHidden || entry.cell.isSectionHeader) continue
            if (shown == visible.first) first = index
            if (shown >= visible.last) return (first ?: index)..index
            shown += 1
        }
        val last = maxOf(0, state.entries.lastIndex)
        return (first ?: last)..last
    }

    /** The path for requesting changes, with the `client` parameter of the page's URL if present. */
    private fun changesPath(): String {
        val client = url.substringAfter('?', "").split('&').firstOrNull { it.startsWith("client=") }
        return url.substringBefore('?') + "/changes" + client?.let { "?$it" }.orEmpty()
    }

    private fun changesHref(window: FeedListState.Window): String {
        val path = changesPath()
        return path + (if ('?' in path) "&" else "?") + "syncToken=" + window.syncTokens.joinToString(",")
    }

    // Synchronization

    /** Loads the first page, and synchronizes the list until the coroutine is cancelled. Throws the refusal of the server. */
    private suspend fun synchronize(mode: SyncMode, interval: Duration) {
        var failures = 0
        while (pageCount == 0) {
            try {
                loadNext()
                // An empty feed has a page, too.
                break
            } catch (problem: FeedProblem) {
                if (problem.isFinal || !problem.isRetryable) throw problem
                client.retry.sleep(pause(problem, ++failures, interval))
            }
        }
        var isLive = mode == SyncMode.Live
        failures = 0
        while (true) {
            var problem: FeedProblem? = null
            try {
                val window = if (isLive) synchronized(state) { state.window(visibleEntries(), MAX_LINE_LENGTH) } else null
                if (window != null) {
                    isLive = stream(window)
                    failures = 0
                    if (isLive) continue
                }
            } catch (error: FeedProblem) {
                // Too many streams, or a broken connection: the list is polled this time.
                problem = error
            }
            try {
                refresh()
                if (problem == null) failures = 0
            } catch (error: FeedProblem) {
                if (error.isFinal) throw error
                problem = error
            }
            client.retry.sleep(if (problem == null) interval else pause(problem, ++failures, interval))
        }
    }

    /** The delay after consecutive failures: as the server requests it, or with backoff, at most twice the interval of polling. */
    private fun pause(problem: FeedProblem, failures: Int, interval: Duration): Duration =
        (problem as? FeedProblem.Unavailable)?.retryAfter?.coerceAtMost(client.retry.maxDelay)
            ?: client.retry.backoff(failures + 1).coerceAtMost(interval * 2)

    /** Receives events until the stream ends or another operation changes the pages. Returns false if the server does not send events. */
    private suspend fun stream(window: FeedListState.Window): Boolean = supervisorScope {
        val stream = async { receive(window) }
        synchronized(state) { streaming = stream }
        try {
            stream.await()
        } catch (error: CancellationException) {
            ensureActive()
            true
        } finally {
            synchronized(state) { streaming = null }
        }
    }

    private suspend fun receive(first: FeedListState.Window): Boolean {
        val fields = HashMap<String, String>()
        fields["Accept"] = "text/event-stream, application/json;q=0.5"
        // The URL has the tokens of the last event as well.
        synchronized(state) { lastEventId?.takeIf { it == first.syncTokens.joinToString(",") } }?.let { fields["Last-Event-ID"] = it }
        val response = client.open(client.request("GET", client.absolute(changesHref(first)), fields))
        var window = first
        val parser = EventStreamParser()
        var isSilent = true
        try {
            val head = HttpResponse(response.status, response.headers)
            client.requireSuccess(head)
            if (!head.isOfType("event-stream")) {
                // Another type is the page of a network or a proxy.
                return if (head.isOfType("json")) false else throw FeedProblem.SignInRequired(head.status, null)
            }
            response.chunks.collect { chunk ->
                isSilent = false
                for (event in parser.receive(chunk)) {
                    val changes = parseJson(event.data)?.let { FeedChanges.of(it, client.base) } ?: continue
                    if (!apply(changes, window)) throw Reload()
                    window = synchronized(state) {
                        lastEventId = event.id
                        state.window(visibleEntries(), MAX_LINE_LENGTH)?.takeIf { it.pages == window.pages }
                    } ?: throw Resubscribe()
                }
            }
        } catch (_: Reload) {
            loading.withLock { reloadPages() }
            return true
        } catch (_: Resubscribe) {
            return true
        } catch (error: IOException) {
            currentCoroutineContext().ensureActive()
            throw FeedProblem.Unreachable(error.message ?: "The stream is broken.", error)
        } finally {
            response.close()
        }
        // The server closed the stream, for example at its end. The random pause distributes the reconnections of all clients.
        if (isSilent) throw FeedProblem.Unreachable("The stream has ended without events.")
        client.retry.sleep(parser.retry?.coerceAtMost(client.retry.maxDelay) ?: (client.retry.initialDelay * 2 * client.retry.jitter()))
        return true
    }

    /** Ends the collection of a stream whose pages must be loaded again. */
    private class Reload : Exception()

    /** Ends the collection of a stream that must be about other pages. */
    private class Resubscribe : Exception()

    private companion object {
        /** The maximum length of sync tokens in the request line, which is limited to 8 KiB. Longer tokens are sent in a body. */
        const val MAX_LINE_LENGTH = 6500
        const val MAX_BODY_LENGTH = 100_000
    }
}
