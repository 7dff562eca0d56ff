package intertwine.recyclerview

import android.content.Context
import android.util.AttributeSet
import android.view.Gravity
import android.view.View
import android.view.ViewGroup
import android.widget.Button
import android.widget.FrameLayout
import android.widget.LinearLayout
import android.widget.ProgressBar
import android.widget.TextView
import androidx.core.view.ViewCompat
import androidx.recyclerview.widget.RecyclerView
import intertwine.ui.FeedState
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch

/**
 * A complete view of a feed: the list of a [FeedAdapter], a button for new cells, and the state of the first page.
 *
 * ```kotlin
 * val feed = FeedView(context)
 * lifecycleScope.launch { lifecycle.repeatOnLifecycle(Lifecycle.State.STARTED) { feed.follow(adapter) } }
 * ```
 */
public class FeedView @JvmOverloads constructor(context: Context, attributes: AttributeSet? = null) : FrameLayout(context, attributes) {
    /** The list. */
    public val recyclerView: RecyclerView = RecyclerView(context)
    private val newButton = Button(context)
    private val progress = ProgressBar(context)
    private val message = TextView(context)
    private val retryButton = Button(context)
    private val problem = LinearLayout(context)

    init {
        problem.orientation = LinearLayout.VERTICAL
        problem.setGravity(Gravity.CENTER_HORIZONTAL)
        message.gravity = Gravity.CENTER_HORIZONTAL
        for (view in listOf<View>(message, retryButton)) problem.addView(view, LinearLayout.LayoutParams(WRAP_CONTENT, WRAP_CONTENT))
        addView(recyclerView, LayoutParams(MATCH_PARENT, MATCH_PARENT))
        addView(progress, LayoutParams(WRAP_CONTENT, WRAP_CONTENT, Gravity.CENTER))
        addView(problem, LayoutParams(MATCH_PARENT, WRAP_CONTENT, Gravity.CENTER))
        addView(newButton, LayoutParams(WRAP_CONTENT, WRAP_CONTENT, Gravity.TOP or Gravity.CENTER_HORIZONTAL))
        // A screen reader announces the number of new cells, and the message of a problem.
        for (view in listOf<View>(newButton, message)) ViewCompat.setAccessibilityLiveRegion(view, View.ACCESSIBILITY_LIVE_REGION_POLITE)
        show(FeedState())
    }

    /** Shows the feed of an adapter, and follows it until the coroutine is cancelled. */
    public suspend fun follow(adapter: FeedAdapter): Unit = coroutineScope {
        newButton.setOnClickListener { recyclerView.scrollToPosition(0) }
        retryButton.setOnClickListener { adapter.model.retry() }
        retryButton.text = adapter.model.texts.retry
        launch { adapter.follow(recyclerView) }
        adapter.model.state.collect { state ->
            newButton.text = adapter.model.texts.new(state.newCount)
            val failure = (state.phase as? FeedState.Phase.Failed)?.problem
            message.text = if (failure != null) adapter.model.texts.problem(failure) else adapter.model.texts.empty
            show(state)
        }
    }

    private fun show(state: FeedState) {
        val hasFailed = state.phase is FeedState.Phase.Failed && state.sections.isEmpty()
        setVisible(newButton, state.newCount > 0)
        setVisible(progress, state.phase == FeedState.Phase.Loading)
        setVisible(problem, hasFailed || state.isEmpty)
        setVisible(retryButton, hasFailed)
    }

    private fun setVisible(view: View, isVisible: Boolean) {
        view.visibility = if (isVisible) View.VISIBLE else View.GONE
    }

    private companion object {
        const val MATCH_PARENT = ViewGroup.LayoutParams.MATCH_PARENT
        const val WRAP_CONTENT = ViewGroup.LayoutParams.WRAP_CONTENT
    }
}
