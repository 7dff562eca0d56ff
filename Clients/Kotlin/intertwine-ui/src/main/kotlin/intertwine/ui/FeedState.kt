package intertwine.ui

import intertwine.client.FeedProblem
import intertwine.client.FeedSection
import intertwine.client.Invocation
import kotlinx.serialization.json.JsonObject

/**
 * The state of a feed on a screen. A view shows it as it is.
 *
 * ```kotlin
 * val preview = FeedState(phase = FeedState.Phase.Loaded, newCount = 3)
 * ```
 *
 * @property phase the state of the first page.
 * @property sections the sections with their cells.
 * @property isAtEnd true if all pages are loaded.
 * @property isRefreshing true while [FeedModel.refresh] loads.
 * @property nextProblem the problem of the last request for a further page; null after a success.
 * @property newCount the number of new cells above the visible ones, for a button "3 new".
 * @property notice the message about the last gesture; null if there is none.
 */
public data class FeedState(
    val phase: Phase = Phase.Loading,
    val sections: List<FeedSection> = emptyList(),
    val isAtEnd: Boolean = false,
    val isRefreshing: Boolean = false,
    val nextProblem: FeedProblem? = null,
    val newCount: Int = 0,
    val notice: FeedNotice? = null,
) {
    /** The state of the first page. */
    public sealed class Phase {
        /** The first page is requested. */
        public data object Loading : Phase()

        /** The feed is shown; it may be empty. */
        public data object Loaded : Phase()

        /** The first page cannot be loaded, or the server refuses to synchronize the list. */
        public class Failed(public val problem: FeedProblem) : Phase()
    }

    /** True if the feed is loaded and has no cells. */
    public val isEmpty: Boolean get() = phase == Phase.Loaded && sections.all { it.header == null && it.rows.isEmpty() }
}

/**
 * A short message about a gesture, for a snack bar.
 *
 * @property id a number that is different for each notice.
 * @property message the message.
 * @property undo the undo; null if the gesture cannot be undone.
 */
public class FeedNotice internal constructor(public val id: Long, public val message: String, public val undo: Invocation.Undo?)

/** A request of the server to the app, in the response to a gesture. */
public sealed class FeedEvent {
    /** Open this URL, for example in a browser. */
    public class Open internal constructor(public val url: String) : FeedEvent()

    /** Show this presentation, with a `screen` and `arguments`. */
    public class Present internal constructor(public val presentation: JsonObject) : FeedEvent()
}
