package intertwine.tests

import android.content.Context
import android.view.View
import android.view.ViewGroup
import android.widget.Button
import android.widget.ImageView
import android.widget.LinearLayout
import android.widget.PopupMenu
import android.widget.TextView
import androidx.core.view.ViewCompat
import androidx.recyclerview.widget.RecyclerView
import com.google.android.material.snackbar.Snackbar
import intertwine.recyclerview.FeedAdapter
import intertwine.recyclerview.FeedView
import intertwine.tests.Harness.test
import intertwine.ui.FeedModel
import intertwine.ui.FeedState
import kotlin.random.Random
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch

/** Applies notifications as `RecyclerView` does, each to the list after those before it. */
private class Observer : RecyclerView.AdapterDataObserver() {
    val rows = ArrayList<Any?>()
    val changed = HashSet<Any?>()
    var moves = 0

    override fun onItemRangeInserted(start: Int, count: Int) {
        expect(start in 0..rows.size, "insertion at $start of ${rows.size}")
        repeat(count) { rows.add(start, null) }
    }

    override fun onItemRangeRemoved(start: Int, count: Int) = repeat(count) { rows.removeAt(start) }

    override fun onItemRangeMoved(from: Int, to: Int, count: Int) {
        moves += 1
        rows.add(to, rows.removeAt(from))
    }

    override fun onItemRangeChanged(start: Int, count: Int, payload: Any?) {
        expect(payload != null, "a changed row keeps its view")
        for (position in start until start + count) changed.add(rows[position])
    }

    /** Fills the inserted rows, and compares all others. */
    fun settle(wanted: List<Any>) {
        expectEqual(rows.size, wanted.size, "number of rows")
        for ((position, id) in wanted.withIndex()) {
            if (rows[position] == null) rows[position] = id else expectEqual(rows[position], id, "row $position")
        }
    }
}

private fun rowsOf(state: FeedState): List<Any> =
    state.sections.flatMap { section -> listOfNotNull<Any>(section.header?.id) + section.rows.map { it.key } }

private fun View.all(): List<View> = listOf(this) + ((this as? ViewGroup)?.let { group -> (0 until group.childCount).flatMap { group.getChildAt(it)!!.all() } } ?: emptyList())

private fun RecyclerView.row(index: Int): ViewGroup = getChildAt(index) as ViewGroup

private fun ViewGroup.label(): TextView = getChildAt(0) as TextView

private fun ViewGroup.content(): View = getChildAt(1)!!

private fun adapter(model: FeedModel, scope: CoroutineScope): FeedAdapter {
    val adapter = FeedAdapter(model, scope)
    adapter.register("TextCell", "OtherCell", create = { TextView(it.context) }) { view, cell -> view.text = cell.bindings["text"]?.text }
    adapter.register("AdCell", create = { ImageView(it.context) }) { view, cell -> adapter.load("photo", cell, view) }
    return adapter
}

fun adapterTests() {
    test("3,000 random changes of sections and cells are valid notifications") {
        val random = Random(7)
        val service = Service()
        val model = service.model(this)
        val adapter = adapter(model, this)
        val observer = Observer()
        adapter.registerAdapterDataObserver(observer)
        var texts = (0 until 40).associateWith { 0 }
        var before = FeedState()
        var changes = 0
        repeat(3_000) {
            val cells = ArrayList<String>()
            val ids = (0 until 40).filter { random.nextInt(4) > 0 }.toMutableList()
            repeat(random.nextInt(4)) { if (ids.size > 1) ids.add(random.nextInt(ids.size), ids.removeAt(random.nextInt(ids.size))) }
            texts = texts.mapValues { (_, version) -> if (random.nextInt(20) == 0) version + 1 else version }
            val sections = listOf("a", "b", "c").filter { random.nextInt(5) > 0 }.shuffled(if (random.nextInt(3) == 0) random else Random(1))
            ids.chunked(11).forEachIndexed { index, chunk ->
                sections.getOrNull(index)?.let { cells.add(cell("section:$it", text = "${texts[index]}")) }
                for (id in chunk) cells.add(cell("user:$id", text = "${texts[id]}"))
            }
            service.pages = mapOf("/feed" to page(*cells.toTypedArray()))
            model.list.reload()
            val state = FeedState(FeedState.Phase.Loaded, model.list.sections, isAtEnd = random.nextBoolean())
            adapter.submit(state)
            observer.settle(rowsOf(state) + if (state.isAtEnd || state.sections.isEmpty()) emptyList() else listOf("end"))
            expectEqual(adapter.itemCount, observer.rows.size)
            val old = before.sections.flatMap { it.rows }.associate { it.key to it.cell }
            val differing = state.sections.flatMap { it.rows }.filter { row -> old[row.key]?.let { it != row.cell } == true }.map { it.key }
            // Rows of inserted sections are new, and need no further notification.
            expect(observer.changed.filterIsInstance<Long>().all { it in differing }, "no equal row is filled again")
            changes += observer.changed.size
            observer.changed.clear()
            before = state
        }
        expect(changes > 1_000 && observer.moves > 1_000, "the test covers changes and moves: $changes, ${observer.moves}")
    }
    test("the view type follows the identifier, and an unknown cell has a placeholder of its size") {
        val model = Service(cell("a"), cell("b", "OtherCell"), cell("c", "UnknownCell", size = """{"width": 300, "height": 80}"""), adCell).model(this)
        val adapter = adapter(model, this)
        val view = RecyclerView(Context())
        launch { adapter.follow(view) }
        until { adapter.itemCount == 4 }
        val types = (0 until 4).map { adapter.getItemViewType(it) }
        expectEqual(types[0], types[1], "two identifiers of one view")
        expectEqual(types.toSet().size, 3)
        view.show(0, 0, 1000)
        expectEqual((view.row(0).content() as TextView).text.toString(), "a")
        expectEqual(view.row(2).content().minimumHeight, 80)
        expectEqual(view.row(2).contentDescription.toString(), "Content that this version cannot show")
        expectEqual(view.row(0).contentDescription, null)
    }
    test("an ad has its label, and a reused view of another cell has none") {
        val model = Service(adCell, cell("ad:2", "AdCell", slots = emptyList())).model(this)
        val adapter = adapter(model, this)
        val view = RecyclerView(Context())
        launch { adapter.follow(view) }
        until { adapter.itemCount == 2 }
        val holder = adapter.onCreateViewHolder(view, adapter.getItemViewType(0))
        adapter.onBindViewHolder(holder, 0)
        val label = (holder.itemView as ViewGroup).label()
        expectEqual(label.text.toString() to label.visibility, "Sponsored · Lamps" to View.VISIBLE)
        adapter.onBindViewHolder(holder, 1)
        expectEqual(label.visibility, View.GONE)
    }
    test("a picture has its placeholder and its alternative text, and its cell counts as seen once it is shown") {
        val service = Service(adCell)
        var isReady = false
        service.respond = { request ->
            if ("/images/" in request.url) {
                until { isReady }
                intertwine.client.HttpResponse(200, mapOf("Content-Type" to "image/png"), byteArrayOf(1, 2))
            } else null
        }
        val model = service.model(this)
        val adapter = adapter(model, this)
        val view = RecyclerView(Context())
        launch { adapter.follow(view) }
        until { adapter.itemCount == 1 }
        view.show(0, 0, 1000)
        val picture = view.row(0).content() as ImageView
        expectEqual(picture.contentDescription.toString(), "A lamp")
        until { picture.backgroundColor == 0xFF102030.toInt() }
        expectEqual(model.impressions.pendingCount, 0, "not seen yet")
        isReady = true
        until { picture.bitmap?.encoded?.size == 2 && model.impressions.pendingCount == 1 }
        model.close()
    }
    test("heights follow the text scale and the density") {
        val model = Service(cell("a", size = """{"width": 300, "height": 100, "textHeight": 40}""")).model(this)
        val adapter = adapter(model, this)
        val context = Context()
        context.resources.configuration.fontScale = 1.5f
        context.resources.displayMetrics.density = 2f
        val view = RecyclerView(context)
        launch { adapter.follow(view) }
        until { adapter.itemCount == 1 }
        view.show(0, 0, 1000)
        expectEqual(view.row(0).minimumHeight, 240)
    }
    test("tap, long press and accessibility actions perform slots, those of the shown cell only") {
        val service = Service(cell("a"), cell("b", slots = emptyList()))
        service.respond = { request -> if (request.method == "POST") json("""{"commands": []}""") else null }
        val adapter = adapter(service.model(this), this)
        val view = RecyclerView(Context())
        launch { adapter.follow(view) }
        until { adapter.itemCount == 2 }
        val holder = adapter.onCreateViewHolder(view, adapter.getItemViewType(0))
        adapter.onBindViewHolder(holder, 0)
        adapter.onBindViewHolder(holder, 0)
        val row = holder.itemView
        row.performClick()
        until { service.paths("POST") == listOf("/a/selection") }
        val actions = ViewCompat.actions(row).values
        expectEqual(actions.map { it.label }, listOf("Dismiss"))
        row.performLongClick()
        expectEqual(PopupMenu.shown.last().entries.keys.toList(), listOf("Dismiss"))
        actions.single().command.perform(row, null)
        until { service.paths("POST").last() == "/a/dismissal" && adapter.itemCount == 1 }
        adapter.onBindViewHolder(holder, 0)
        expect(ViewCompat.actions(row).isEmpty() && !row.isClickable && !row.isLongClickable, "a cell without slots")
    }
    test("a swipe dismisses, and the snack bar undoes") {
        val service = Service(cell("a"), cell("b", slots = emptyList()))
        service.respond = { request ->
            if (request.method == "POST") json("""{"commands": [], "undo": {"type": "request", "method": "DELETE", "href": "/invocations/1"}}""") else null
        }
        val model = service.model(this)
        val adapter = adapter(model, this)
        val view = RecyclerView(Context())
        launch { adapter.follow(view) }
        until { adapter.itemCount == 2 }
        view.show(0, 0, 1000)
        expect(!view.helpers().single().swipe(view.shown()[1]), "a cell without dismissal stays")
        expect(view.helpers().single().swipe(view.shown()[0]), "a cell with dismissal")
        until { adapter.itemCount == 1 && Snackbar.current != null }
        expectEqual(Snackbar.current.text to Snackbar.current.action, "Dismissed" to "Undo")
        Snackbar.current.performAction(view)
        until { adapter.itemCount == 2 }
        expectEqual(service.paths("DELETE"), listOf("/invocations/1"))
        until { model.state.value.notice == null && Snackbar.current == null }
    }
    test("headers are headings, and visible fractions reach the model") {
        val service = Service()
        service.pages = mapOf("/feed" to page(cell("section:x", "HeaderCell", text = "People", slots = emptyList()), cell("a"), cell("b"), next = "/more"))
        val model = service.model(this)
        val adapter = adapter(model, this)
        val view = RecyclerView(Context())
        val following = launch { adapter.follow(view) }
        until { adapter.itemCount == 4 }
        view.show(0, 0, 150)
        expectEqual((view.row(0).content() as TextView).text.toString(), "People")
        expect(ViewCompat.isAccessibilityHeading(view.row(0)) && !ViewCompat.isAccessibilityHeading(view.row(1)), "the header only")
        // The last row is a button after the next page failed.
        view.show(1, -50, 600)
        until { model.state.value.nextProblem != null }
        view.show(1, 0, 600)
        val button = view.row(2).content() as Button
        expectEqual(button.text.toString(), "Try again")
        service.pages = service.pages + ("/more" to page(cell("c")))
        button.performClick()
        until { model.ids().size == 3 }
        following.cancelAndJoin()
        expect(view.helpers().isEmpty(), "nothing of the adapter stays at the list")
    }
    test("the complete view shows the problem of the first page, retries, and counts new cells") {
        val service = Service(cell("a"))
        var isRefused = true
        service.respond = { if (isRefused) json("""{"title": "Not today"}""", 403) else null }
        val model = service.model(this)
        val feed = FeedView(Context())
        launch { feed.follow(adapter(model, this)) }
        fun visible(): List<String> {
            fun texts(view: View): List<String> =
                if (view.visibility != View.VISIBLE || view === feed.recyclerView) emptyList()
                else if (view is TextView) listOf(view.text.toString())
                else (view as? ViewGroup)?.let { group -> (0 until group.childCount).flatMap { texts(group.getChildAt(it)!!) } }.orEmpty()
            return texts(feed)
        }
        until { visible() == listOf("Not today", "Try again") }
        isRefused = false
        feed.all().filterIsInstance<Button>().first { it.text.toString() == "Try again" }.performClick()
        until { model.ids().size == 1 && visible().isEmpty() }
        feed.recyclerView.show(0, 0, 100)
        service.pages = mapOf("/feed" to page(cell("x"), cell("a")))
        model.refresh()
        until { visible() == listOf("1 new") }
        feed.all().filterIsInstance<Button>().first { it.text.toString() == "1 new" }.performClick()
        expectEqual(feed.recyclerView.scrolledTo, 0)
    }
}
