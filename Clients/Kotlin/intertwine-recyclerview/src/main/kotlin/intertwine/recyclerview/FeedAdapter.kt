package intertwine.recyclerview

import android.content.ActivityNotFoundException
import android.content.Context
import android.content.Intent
import android.graphics.Bitmap
import android.graphics.BitmapFactory
import android.net.Uri
import android.view.View
import android.view.ViewGroup
import android.widget.Button
import android.widget.ImageView
import android.widget.LinearLayout
import android.widget.PopupMenu
import android.widget.ProgressBar
import android.widget.TextView
import androidx.core.view.ViewCompat
import androidx.recyclerview.widget.AdapterListUpdateCallback
import androidx.recyclerview.widget.ItemTouchHelper
import androidx.recyclerview.widget.LinearLayoutManager
import androidx.recyclerview.widget.RecyclerView
import com.google.android.material.snackbar.Snackbar
import intertwine.client.CellImage
import intertwine.client.CellSlot
import intertwine.client.FeedCell
import intertwine.ui.FeedEvent
import intertwine.ui.FeedModel
import intertwine.ui.FeedNotice
import intertwine.ui.FeedState
import kotlin.math.roundToInt
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext

/**
 * The rows of a feed in a `RecyclerView`: sections, ads with their label, placeholders for unknown cells, dismissal by a swipe, a menu by a long
 * press, a snack bar with undo, and impressions.
 *
 * ```kotlin
 * val adapter = FeedAdapter(model, lifecycleScope)
 * adapter.register("UserTableViewCell", create = { parent -> TextView(parent.context) }) { view, cell ->
 *     view.text = cell.bindings["username"]?.text
 * }
 * lifecycleScope.launch { lifecycle.repeatOnLifecycle(Lifecycle.State.STARTED) { adapter.follow(recyclerView) } }
 * ```
 *
 * Heights follow the text size of the device as the server declares it, and are minimum heights. The actions of a cell are actions for
 * accessibility services too.
 *
 * @property model the state of the feed.
 * @param scope the scope of the pictures, usually `lifecycleScope` of the screen.
 */
public class FeedAdapter(public val model: FeedModel, private val scope: CoroutineScope) : RecyclerView.Adapter<FeedAdapter.Holder>() {
    /** The views of a row. */
    public class Holder internal constructor(internal val frame: LinearLayout, internal val label: TextView, internal val content: View) :
        RecyclerView.ViewHolder(frame) {
        internal var row: FeedRow? = null
        internal var accessibilityActions: List<Int> = emptyList()
        internal val pictures = HashMap<ImageView, Picture>()
    }

    internal class Picture(val key: Long?, val part: String, val job: Job)

    private class Registration(val create: (ViewGroup) -> View, val bind: (View, FeedCell) -> Unit)

    private val registrations = ArrayList<Registration>()
    private val viewTypes = HashMap<String, Int>()
    private var list = FeedRows(emptyList())
    private var state = FeedState()
    /** The holder that is being filled. */
    private var current: Holder? = null

    init {
        stateRestorationPolicy = StateRestorationPolicy.PREVENT_WHEN_EMPTY
    }

    /**
     * Registers a view for cells with the given identifiers. A section header has a view like any other cell.
     *
     * @param create returns a new view.
     * @param bind fills a view with a cell. A reused view still shows its last cell.
     */
    public fun <Content : View> register(
        vararg identifiers: String,
        create: (parent: ViewGroup) -> Content,
        bind: (view: Content, cell: FeedCell) -> Unit,
    ) {
        // A view of this type was made by `create`.
        @Suppress("UNCHECKED_CAST") registrations.add(Registration(create) { view, cell -> bind(view as Content, cell) })
        for (identifier in identifiers) viewTypes[identifier] = FIRST_REGISTERED + registrations.lastIndex
    }

    /**
     * Loads the picture of a part into a view, at the scale of the screen: the placeholder first. It is called while a view is filled. If the view
     * is reused, its request is cancelled.
     *
     * ```kotlin
     * adapter.register("PhotoCell", create = { ImageView(it.context) }) { view, cell -> adapter.load("photo", cell, view) }
     * ```
     */
    public fun load(part: String, cell: FeedCell, into: ImageView) {
        val holder = checkNotNull(current) { "load is called while a view is filled." }
        val binding = cell.bindings[part]
        val description = binding?.alternativeText?.ifEmpty { null }
        into.contentDescription = description
        into.importantForAccessibility = if (description == null) View.IMPORTANT_FOR_ACCESSIBILITY_NO else View.IMPORTANT_FOR_ACCESSIBILITY_YES
        cancel(holder, into)
        into.setImageBitmap(null)
        if (binding?.image == null) return
        val key = holder.row?.key
        if (key != null) model.setLoading(key, part, isLoading = true)
        val scale = into.resources.displayMetrics.density
        val job = scope.launch {
            model.images.images(cell, scale, part).collect { image ->
                if (image is CellImage.Placeholder) {
                    into.setBackgroundColor(image.color ?: 0)
                    image.thumbHash?.let { into.setImageBitmap(Bitmap.createBitmap(it.pixels, it.width, it.height, Bitmap.Config.ARGB_8888)) }
                } else if (image is CellImage.Loaded) {
                    val bitmap = withContext(Dispatchers.Default) { BitmapFactory.decodeByteArray(image.bytes, 0, image.bytes.size) }
                    if (bitmap != null) {
                        into.setImageBitmap(bitmap)
                        if (key != null) model.setLoading(key, part, isLoading = false)
                    }
                }
            }
        }
        holder.pictures[into] = Picture(key, part, job)
    }

    /**
     * Shows the feed in a list, and follows it until the coroutine is cancelled. Without a layout manager, the list gets a vertical one.
     *
     * @param onEvent called for the links and presentations of the server. The default opens links, and ignores presentations.
     */
    public suspend fun follow(view: RecyclerView, onEvent: (FeedEvent) -> Unit = { open(it, view.context) }): Unit = coroutineScope {
        if (view.layoutManager == null) view.layoutManager = LinearLayoutManager(view.context)
        if (view.adapter !== this@FeedAdapter) view.adapter = this@FeedAdapter
        val scrolls =
            object : RecyclerView.OnScrollListener() {
                override fun onScrolled(recyclerView: RecyclerView, dx: Int, dy: Int) = reportVisible(recyclerView)
            }
        val swipes = ItemTouchHelper(Swipes())
        var notice: FeedNotice? = null
        var snackbar: Snackbar? = null
        view.addOnScrollListener(scrolls)
        swipes.attachToRecyclerView(view)
        try {
            launch { model.run() }
            launch { model.events.collect { onEvent(it) } }
            model.state.collect { state ->
                submit(state)
                view.post { reportVisible(view) }
                if (state.notice?.id != notice?.id) {
                    notice = state.notice
                    snackbar = state.notice?.let { show(it, view) }
                }
            }
        } finally {
            view.removeOnScrollListener(scrolls)
            swipes.attachToRecyclerView(null)
            snackbar?.dismiss()
            model.setVisible(emptyMap())
        }
    }

    override fun getItemCount(): Int = list.rows.size + if (endOf(state) == null) 0 else 1

    override fun getItemViewType(position: Int): Int {
        val row = list.rows.getOrNull(position) ?: return endOf(state) ?: PLACEHOLDER
        return row.cell.identifier?.let { viewTypes[it] } ?: if (row.key == null) HEADER else PLACEHOLDER
    }

    override fun onCreateViewHolder(parent: ViewGroup, viewType: Int): Holder {
        val context = parent.context
        val content =
            when (viewType) {
                PLACEHOLDER -> View(context).apply { setBackgroundColor(PLACEHOLDER_COLOR) }
                HEADER -> TextView(context)
                PROGRESS -> ProgressBar(context)
                RETRY -> Button(context).apply { setOnClickListener { model.retry() } }
                else -> registrations[viewType - FIRST_REGISTERED].create(parent)
            }
        val frame = LinearLayout(context)
        frame.orientation = LinearLayout.VERTICAL
        frame.layoutParams = ViewGroup.LayoutParams(ViewGroup.LayoutParams.MATCH_PARENT, ViewGroup.LayoutParams.WRAP_CONTENT)
        val label = TextView(context)
        label.textSize = LABEL_SIZE
        frame.addView(label, LinearLayout.LayoutParams(ViewGroup.LayoutParams.MATCH_PARENT, ViewGroup.LayoutParams.WRAP_CONTENT))
        frame.addView(content, LinearLayout.LayoutParams(ViewGroup.LayoutParams.MATCH_PARENT, ViewGroup.LayoutParams.WRAP_CONTENT))
        return Holder(frame, label, content)
    }

    override fun onBindViewHolder(holder: Holder, position: Int) {
        val row = list.rows.getOrNull(position)
        for (view in holder.pictures.keys.toList()) cancel(holder, view)
        holder.row = row
        setText(holder.label, row?.let { model.texts.disclosure(it.cell) })
        (holder.content as? Button)?.takeIf { row == null }?.text = model.texts.retry
        if (row == null) return
        val cell = row.cell
        val type = getItemViewType(position)
        val height = pixels(cell.size.height(holder.frame.resources.configuration.fontScale), holder.frame)
        holder.frame.minimumHeight = height
        holder.frame.contentDescription = null
        current = holder
        when {
            type >= FIRST_REGISTERED -> registrations[type - FIRST_REGISTERED].bind(holder.content, cell)
            type == HEADER -> (holder.content as TextView).text = cell.bindings.values.mapNotNull { it.text }.joinToString(" ")
            else -> {
                holder.content.minimumHeight = height
                holder.frame.contentDescription = listOfNotNull(model.texts.disclosure(cell), model.texts.placeholder).joinToString(", ")
            }
        }
        current = null
        ViewCompat.setAccessibilityHeading(holder.frame, row.key == null)
        setActions(holder, cell)
    }

    override fun onViewRecycled(holder: Holder) {
        // The pictures of the row stay unloaded until it has a view again.
        for (picture in holder.pictures.values) picture.job.cancel()
        holder.pictures.clear()
        holder.row = null
    }

    private fun setText(label: TextView, text: String?) {
        label.text = text
        label.visibility = if (text == null) View.GONE else View.VISIBLE
    }

    private fun setActions(holder: Holder, cell: FeedCell) {
        val frame = holder.frame
        frame.setOnClickListener { model.perform(CellSlot.Selection, cell) }
        frame.isClickable = CellSlot.Selection in cell.actions
        val menu = model.texts.menu(cell)
        frame.setOnLongClickListener {
            val popup = PopupMenu(frame.context, frame)
            for ((slot, title) in menu) popup.menu.add(title).setOnMenuItemClickListener { model.perform(slot, cell).let { true } }
            popup.show()
            true
        }
        frame.isLongClickable = menu.isNotEmpty()
        // A screen reader reads the parts of a row as one, also if a tap does nothing.
        ViewCompat.setScreenReaderFocusable(frame, true)
        for (id in holder.accessibilityActions) ViewCompat.removeAccessibilityAction(frame, id)
        holder.accessibilityActions = menu.map { (slot, title) ->
            ViewCompat.addAccessibilityAction(frame, title) { _, _ -> model.perform(slot, cell).let { true } }
        }
    }

    private fun cancel(holder: Holder, view: ImageView) {
        val picture = holder.pictures.remove(view) ?: return
        picture.job.cancel()
        // A row that is filled again may have other pictures.
        if (picture.key != null) model.setLoading(picture.key, picture.part, isLoading = false)
    }

    /** Shows another state, with the notifications of the changes. */
    internal fun submit(new: FeedState) {
        val (old, end) = list to endOf(state)
        val newEnd = endOf(new)
        if (end != null && newEnd == null) {
            state = new
            notifyItemRemoved(old.rows.size)
        }
        state = new
        if (new.sections !== old.sections) {
            list = FeedRows(new.sections)
            old.reportChanges(list, AdapterListUpdateCallback(this))
        }
        if (newEnd != null && end == null) notifyItemInserted(list.rows.size)
        if (newEnd != null && end != null && newEnd != end) notifyItemChanged(list.rows.size)
    }

    /** Returns the view type of the last row: the state of the next page. */
    private fun endOf(state: FeedState): Int? =
        when {
            state.sections.isEmpty() -> null
            state.nextProblem != null || state.phase is FeedState.Phase.Failed -> RETRY
            state.isAtEnd -> null
            else -> PROGRESS
        }

    private fun reportVisible(view: RecyclerView) {
        val shares = HashMap<Long, Float>()
        for (index in 0 until view.childCount) {
            val child = view.getChildAt(index)
            val key = (view.getChildViewHolder(child) as? Holder)?.row?.key ?: continue
            val visible = minOf(child.bottom, view.height) - maxOf(child.top, 0)
            if (child.height > 0) shares[key] = (visible.toFloat() / child.height).coerceIn(0f, 1f)
        }
        model.setVisible(shares)
    }

    private fun show(notice: FeedNotice, view: View): Snackbar {
        val snackbar = Snackbar.make(view, notice.message, Snackbar.LENGTH_LONG)
        if (notice.undo != null) snackbar.setAction(model.texts.undo) { model.undo(notice) }
        snackbar.addCallback(
            object : Snackbar.Callback() {
                override fun onDismissed(transientBottomBar: Snackbar?, event: Int) = model.dismiss(notice)
            })
        snackbar.show()
        return snackbar
    }

    private fun pixels(points: Double, view: View): Int = (points * view.resources.displayMetrics.density).roundToInt()

    /** Dismisses a row by a swipe to either side. */
    private inner class Swipes : ItemTouchHelper.SimpleCallback(0, ItemTouchHelper.START or ItemTouchHelper.END) {
        override fun getSwipeDirs(recyclerView: RecyclerView, viewHolder: RecyclerView.ViewHolder): Int {
            val actions = (viewHolder as? Holder)?.row?.cell?.actions.orEmpty()
            return if (CellSlot.Dismissal in actions) super.getSwipeDirs(recyclerView, viewHolder) else 0
        }

        override fun onMove(recyclerView: RecyclerView, viewHolder: RecyclerView.ViewHolder, target: RecyclerView.ViewHolder): Boolean = false

        override fun onSwiped(viewHolder: RecyclerView.ViewHolder, direction: Int) {
            (viewHolder as? Holder)?.row?.let { model.perform(CellSlot.Dismissal, it.cell) }
        }
    }

    private companion object {
        const val PLACEHOLDER = 0
        const val HEADER = 1
        const val PROGRESS = 2
        const val RETRY = 3
        const val FIRST_REGISTERED = 4
        const val PLACEHOLDER_COLOR = 0x33808080
        /** The text size of a label, in scaled pixels. */
        const val LABEL_SIZE = 12f

        fun open(event: FeedEvent, context: Context) {
            if (event !is FeedEvent.Open) return
            try {
                context.startActivity(Intent(Intent.ACTION_VIEW, Uri.parse(event.url)))
            } catch (_: ActivityNotFoundException) {
                // The device has no browser.
            }
        }
    }
}
