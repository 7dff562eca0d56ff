package intertwine.ui

import intertwine.client.Actions
import intertwine.client.CellSlot
import intertwine.client.FeedCell
import intertwine.client.FeedClient
import intertwine.client.FeedList
import intertwine.client.FeedProblem
import intertwine.client.FeedSection
import intertwine.client.ImageLoader
import intertwine.client.Impressions
import intertwine.client.Invocation
import intertwine.client.OptimisticChange
import java.io.Closeable
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.channels.BufferOverflow
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.MutableSharedFlow
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.SharedFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asSharedFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.flow.update
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.serialization.json.JsonElement

/**
 * The state of a feed on a screen, which `FeedColumn` and `FeedAdapter` show. An app keeps it in a `ViewModel`, so that the feed survives rotations:
 *
 * ```kotlin
 * class PeopleModel : ViewModel() {
 *     private val client = FeedClient("https://feeds.example.com", viewer = "ann")
 *     val feed = FeedModel(client, viewModelScope)
 *
 *     override fun onCleared() {
 *         feed.close()
 *         client.close()
 *     }
 * }
 * ```
 *
 * The model belongs to one thread, on Android the main thread: [scope] dispatches to it, and all functions are called on it.
 *
 * @property client the client that sends the requests.
 * @param scope the scope of gestures and loads. They end if it is cancelled.
 * @property list the list of all loaded cells.
 * @property actions the gestures. An app passes its own for an outbox in a file.
 * @property images the loader of the pictures. An app that has several feeds passes one for all, and closes it.
 * @property impressions the impressions. An app passes its own for a storage, or for several feeds, and closes it.
 * @property texts the texts for people.
 * @param mode the method of synchronization.
 */
public class FeedModel(
    public val client: FeedClient,
    private val scope: CoroutineScope,
    public val list: FeedList = FeedList(client, client.url(layout = "table")),
    public val actions: Actions = Actions(client),
    images: ImageLoader? = null,
    impressions: Impressions? = null,
    public val texts: FeedTexts = FeedTexts(),
    private val mode: FeedList.SyncMode = FeedList.SyncMode.Live,
) : Closeable {
    private val ownImages = if (images == null) ImageLoader(client) else null
    public val images: ImageLoader = images ?: checkNotNull(ownImages)

    private val ownImpressions = if (impressions == null) Impressions(client) else null
    public val impressions: Impressions = impressions ?: checkNotNull(ownImpressions)

    private val states = MutableStateFlow(FeedState())
    private val requested = MutableSharedFlow<FeedEvent>(extraBufferCapacity = 16, onBufferOverflow = BufferOverflow.DROP_OLDEST)
    private val retries = Channel<Unit>(Channel.CONFLATED)
    /** The ids of all cells that were ever in the list. A cell that returns after an undo is not new. */
    private val known = HashSet<String>()
    /** The keys of new cells above the visible ones. A list on Android keeps its position, so that they do not move the visible cells. */
    private val unseen = HashSet<Long>()
    private var visible: Map<Long, Float> = emptyMap()
    /** The parts whose pictures are not on the screen yet, by the key of their cell. */
    private val loading = HashMap<Long, Set<String>>()
    /** All cells without the headers, and their positions by key. */
    private var rows: List<FeedSection.Row> = emptyList()
    private var positions: Map<Long, Int> = emptyMap()
    private var loadingNext: Job? = null
    private var refreshing: Job? = null
    private var noticeCount = 0L

    /** The state to show. */
    public val state: StateFlow<FeedState> = states.asStateFlow()

    /** The links and presentations that the app shows. An event without a collector is dropped. */
    public val events: SharedFlow<FeedEvent> = requested.asSharedFlow()

    /**
     * Loads the first page, and follows the list until the coroutine is cancelled. After a failure it waits for [retry]. The views call it
     * while they are visible; one coroutine runs it.
     *
     * ```kotlin
     * lifecycle.repeatOnLifecycle(Lifecycle.State.STARTED) { model.run() }
     * ```
     */
    public suspend fun run(): Unit = coroutineScope {
        launch { actions.sendPending() }
        while (true) {
            try {
                if (list.pageCount == 0) list.loadNext()
                list.updates(mode).collect { show(it.sections) }
            } catch (problem: FeedProblem) {
                states.update { it.copy(phase = FeedState.Phase.Failed(problem)) }
            }
            retries.receive()
            if (list.pageCount == 0) states.update { it.copy(phase = FeedState.Phase.Loading) }
        }
    }

    /** Loads again what failed: the first page, or the next one. */
    public fun retry() {
        if (state.value.phase is FeedState.Phase.Failed) retries.trySend(Unit) else loadNext()
    }

    /** Appends the next page. Calls during a request have no effect. The views call it near the end. */
    public fun loadNext() {
        if (loadingNext?.isActive == true || state.value.phase != FeedState.Phase.Loaded || state.value.isAtEnd) return
        loadingNext = scope.launch {
            val problem = problemOf { list.loadNext() }
            states.update { it.copy(nextProblem = problem, isAtEnd = list.isAtEnd) }
        }
    }

    /** Loads all pages again, for example after a pull. */
    public fun refresh() {
        if (state.value.phase is FeedState.Phase.Failed) return retry()
        if (refreshing?.isActive == true) return
        states.update { it.copy(isRefreshing = true) }
        refreshing = scope.launch {
            try {
                problemOf { list.reload() }?.let { announce(texts.problem(it)) }
                actions.sendPending()
            } finally {
                states.update { it.copy(isRefreshing = false, isAtEnd = list.isAtEnd) }
            }
        }
    }

    /**
     * Sets the visible cells: their keys, and the visible fraction of each. Reports impressions, and loads the next page near the end. The
     * views call it; with an empty map if the screen is covered or left.
     */
    public fun setVisible(shares: Map<Long, Float>) {
        visible = shares.filter { (key, share) -> share > 0 && key in positions }
        impressions.record(
            visible.map { (key, share) ->
                Impressions.VisibleCell(rows[positions.getValue(key)].cell, share.toDouble(), isLoaded = key !in loading)
            })
        val shown = visible.keys.map { positions.getValue(it) }
        val first = shown.minOrNull() ?: return
        val last = shown.max()
        list.setVisibleRange(first..last)
        countUnseen(first)
        if (last + shown.size >= rows.size && state.value.nextProblem == null) loadNext()
    }

    /**
     * Sets whether the picture of a part is still being loaded: a cell is not seen before its pictures are on the screen. The views call it for
     * their own pictures. An app with another loader calls it for its pictures, and otherwise every picture counts as loaded.
     *
     * @param key the key of the cell's row.
     */
    public fun setLoading(key: Long, part: String, isLoading: Boolean) {
        val parts = loading[key].orEmpty()
        val new = if (isLoading) parts + part else parts - part
        if (new == parts) return
        if (new.isEmpty()) loading.remove(key) else loading[key] = new
        if (key in visible) setVisible(visible)
    }

    /** Opens a link after the impressions were sent, because a click counts only after them. It waits for at most a second. */
    private suspend fun open(url: String) {
        val flush = scope.launch { impressions.flush() }
        withTimeoutOrNull(1.seconds) { flush.join() }
        requested.tryEmit(FeedEvent.Open(url))
    }

    /**
     * Performs a slot of a cell. A dismissed cell disappears at once, and returns if the server refuses.
     *
     * ```kotlin
     * model.perform(CellSlot.Dismissal, cell)
     * ```
     */
    public fun perform(slot: CellSlot, cell: FeedCell, input: JsonElement? = null): Job = scope.launch {
        val isDismissal = slot == CellSlot.Dismissal
        val change = if (isDismissal) OptimisticChange.hiding(cell, list) else null
        val problem = problemOf {
            when (val invocation = actions.perform(slot, cell, showing = change, input = input)) {
                is Invocation.Link -> open(invocation.url)
                is Invocation.Performed -> {
                    invocation.open?.let { open(it) }
                    invocation.presentation?.let { requested.tryEmit(FeedEvent.Present(it)) }
                    if (isDismissal) announce(texts.dismissed, invocation.undo)
                }
                is Invocation.Queued -> announce(if (isDismissal) texts.dismissed else texts.queued, invocation.undo)
                is Invocation.NoOperation -> {}
            }
        }
        if (problem != null) announce(texts.problem(problem))
    }

    /** Undoes the gesture of a notice. */
    public fun undo(notice: FeedNotice) {
        val undo = notice.undo ?: return
        dismiss(notice)
        scope.launch {
            // The server still accepts the undo after a temporary problem.
            problemOf { actions.undo(undo) }?.let { announce(texts.problem(it), undo.takeIf { _ -> it.isRetryable }) }
        }
    }

    /** Removes a notice. The views call it when its snack bar has disappeared. */
    public fun dismiss(notice: FeedNotice) {
        states.update { if (it.notice?.id == notice.id) it.copy(notice = null) else it }
    }

    /** Ends the impressions and the requests of pictures, except those of objects that the app passed. */
    override fun close() {
        ownImpressions?.close()
        ownImages?.close()
    }

    private fun show(sections: List<FeedSection>) {
        rows = sections.flatMap { it.rows }
        positions = rows.withIndex().associate { (position, row) -> row.key to position }
        val first = visible.keys.mapNotNull { positions[it] }.minOrNull()
        if (first != null) rows.take(first).filter { it.cell.id !in known && !it.cell.isAdvertisement }.mapTo(unseen) { it.key }
        rows.mapTo(known) { it.cell.id }
        loading.keys.retainAll(positions.keys)
        states.update { it.copy(phase = FeedState.Phase.Loaded, sections = sections, isAtEnd = list.isAtEnd) }
        countUnseen(first ?: return)
    }

    /** Forgets new cells that are not above a position any more. */
    private fun countUnseen(first: Int) {
        unseen.retainAll { key -> positions[key].let { it != null && it < first } }
        states.update { if (it.newCount == unseen.size) it else it.copy(newCount = unseen.size) }
    }

    private fun announce(message: String, undo: Invocation.Undo? = null) {
        noticeCount += 1
        states.update { it.copy(notice = FeedNotice(noticeCount, message, undo)) }
    }

    private inline fun problemOf(work: () -> Unit): FeedProblem? =
        try {
            work()
            null
        } catch (problem: FeedProblem) {
            problem
        }
}
