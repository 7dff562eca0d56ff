package intertwine.tests

import androidx.compose.foundation.lazy.LazyListState
import androidx.compose.material3.SnackbarHostState
import androidx.compose.material3.SnackbarResult
import androidx.compose.material3.Text
import androidx.compose.runtime.Composition
import androidx.compose.runtime.CompositionLocalProvider
import androidx.compose.runtime.Node
import androidx.compose.ui.Modifier
import androidx.compose.ui.graphics.ImageBitmap
import androidx.compose.ui.platform.LocalDensity
import androidx.compose.ui.platform.LocalUriHandler
import androidx.compose.ui.platform.UriHandler
import androidx.compose.ui.semantics.CustomAccessibilityAction
import androidx.compose.ui.unit.Density
import androidx.compose.ui.unit.Dp
import androidx.lifecycle.Lifecycle
import androidx.lifecycle.LifecycleOwner
import androidx.lifecycle.compose.LocalLifecycleOwner
import intertwine.client.HttpResponse
import intertwine.compose.FeedColumn
import intertwine.compose.FeedImage
import intertwine.tests.Harness.test
import intertwine.ui.FeedModel
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.delay

/** A screen with a column. */
private class Screen(scope: CoroutineScope, val model: FeedModel, textScale: Float = 1f) {
    val list = LazyListState()
    val opened = ArrayList<String>()
    val owner = object : LifecycleOwner {
        override val lifecycle = Lifecycle()
    }
    private val browser = object : UriHandler {
        override fun openUri(uri: String) {
            opened.add(uri)
        }
    }
    private val composition = Composition(scope) {
        CompositionLocalProvider(LocalDensity provides Density(2f, textScale)) {
            CompositionLocalProvider(LocalUriHandler provides browser) {
                CompositionLocalProvider(LocalLifecycleOwner provides owner) {
                    FeedColumn(model, state = list) {
                        cell("TextCell", "OtherCell") { cell -> Text(cell.bindings["text"]?.text.orEmpty()) }
                        cell("AdCell") { cell -> FeedImage(cell, "photo") }
                    }
                }
            }
        }
    }

    fun compose(): Node = composition.compose()

    fun items(): List<Node> = compose().all("Item")

    /** Composes until a condition is true. */
    suspend fun until(condition: (Node) -> Boolean): Node {
        while (true) {
            val root = compose()
            if (condition(root)) return root
            delay(2)
        }
    }

    fun dispose() = composition.dispose()
}

private fun Node.texts(): List<String> = all("Text").map { it["text"] as String }

private fun Node.element(name: String): Any? = all().firstNotNullOfOrNull { (it["modifier"] as? Modifier)?.elements?.get(name) }

@Suppress("UNCHECKED_CAST")
private fun Node.semantics(name: String): Any? =
    all().firstNotNullOfOrNull { ((it["modifier"] as? Modifier)?.elements?.get("semantics") as? Map<String, Any?>)?.get(name) }

@Suppress("UNCHECKED_CAST")
private fun Node.click() = (element("onClick") as () -> Unit)()

fun composeTests() {
    test("keys are stable, content types follow identifiers, and an unknown cell has a placeholder of its size") {
        val service = Service(
            cell("section:x", "HeaderCell", text = "People", slots = emptyList()), cell("a"), cell("b", "OtherCell"),
            cell("c", "UnknownCell", size = """{"width": 300, "height": 80}"""))
        val screen = Screen(this, service.model(this))
        val items = screen.until { it.all("Item").size == 4 }.all("Item")
        expectEqual(items.map { it["contentType"] }, listOf("intertwine.header", "TextCell", "OtherCell", "intertwine.placeholder"))
        expectEqual(items[0].texts(), listOf("People"))
        expectEqual(items[0].semantics("heading"), true)
        expectEqual(items[1].texts(), listOf("a"))
        expectEqual(items[3].semantics("contentDescription"), "Content that this version cannot show")
        expectEqual((items[3].element("height") as Dp).value, 80f)
        val keys = items.map { it["key"] }
        expectEqual(keys.drop(1), screen.model.state.value.sections[0].rows.map { it.key })
        service.pages = mapOf("/feed" to page(cell("x"), cell("b", "OtherCell"), cell("a")))
        screen.model.refresh()
        val after = screen.until { it.all("Item").size == 3 }.all("Item").map { it["key"] }
        expectEqual(after.drop(1), listOf(keys[2], keys[1]))
    }
    test("an ad has its label and its picture, and counts as seen once the picture is shown") {
        val service = Service(adCell)
        var isReady = false
        service.respond = { request ->
            if ("/images/" in request.url) {
                until { isReady }
                HttpResponse(200, mapOf("Content-Type" to "image/png"), byteArrayOf(1, 2))
            } else null
        }
        val screen = Screen(this, service.model(this))
        var item = screen.until { it.all("Item").size == 1 }.all("Item").single()
        expectEqual(item.texts(), listOf("Sponsored · Lamps"))
        expectEqual(item.semantics("contentDescription"), "A lamp")
        expect(item.element("background") != null && item.all("Image").isEmpty(), "the placeholder")
        screen.list.window = 0..1000
        screen.list.items = listOf(LazyListState.Item(0, item["key"]!!, 0, 100))
        screen.compose()
        delay(20)
        expectEqual(screen.model.impressions.pendingCount, 0)
        isReady = true
        item = screen.until { it.all("Image").size == 1 }
        expectEqual((item.all("Image").single()["bitmap"] as ImageBitmap).bitmap.encoded?.size, 2)
        expectEqual(item.all("Image").single()["contentDescription"], "A lamp")
        until { screen.model.impressions.pendingCount == 1 }
        screen.model.close()
    }
    test("heights follow the text scale") {
        val screen = Screen(this, Service(cell("a", size = """{"width": 300, "height": 100, "textHeight": 40}""")).model(this), textScale = 1.5f)
        val item = screen.until { it.all("Item").size == 1 }.all("Item").single()
        expectEqual((item.element("minHeight") as Dp).value, 120f)
    }
    test("tap, long press and accessibility actions perform slots, and the snack bar undoes") {
        val service = Service(cell("a"), cell("b", slots = emptyList()))
        service.respond = { request ->
            when {
                request.url.endsWith("/selection") -> json("""{"commands": [], "open": {"href": "https://shop.example.com/1"}}""")
                request.method == "POST" -> json("""{"commands": [], "undo": {"type": "request", "method": "DELETE", "href": "/invocations/1"}}""")
                else -> null
            }
        }
        val screen = Screen(this, service.model(this))
        val (first, second) = screen.until { it.all("Item").size == 2 }.all("Item")
        expect(second.element("onClick") == null && (second.semantics("customActions") as List<*>).isEmpty(), "a cell without slots")
        first.click()
        until { screen.opened == listOf("https://shop.example.com/1") }
        @Suppress("UNCHECKED_CAST") (first.element("onLongClick") as () -> Unit)()
        val menu = screen.until { it.all("Menu").size == 1 }.all("MenuItem").single()
        expectEqual(menu.texts(), listOf("Dismiss"))
        val action = (first.semantics("customActions") as List<*>).single() as CustomAccessibilityAction
        expectEqual(action.label, "Dismiss")
        expect(action.action(), "performed")
        val root = screen.until { it.all("Item").size == 1 && screen.model.state.value.notice != null }
        val host = root.all("SnackbarHost").single()["state"] as SnackbarHostState
        screen.until { host.message != null }
        expectEqual(host.message to host.action, "Dismissed" to "Undo")
        host.end(SnackbarResult.ActionPerformed)
        screen.until { it.all("Item").size == 2 }
        expectEqual(service.paths("DELETE"), listOf("/invocations/1"))
        screen.until { screen.model.state.value.notice == null && host.message == null }
    }
    test("the first page can fail, and new cells have a button") {
        val service = Service(cell("a"))
        var isRefused = true
        service.respond = { if (isRefused) json("""{"title": "Not today"}""", 403) else null }
        val screen = Screen(this, service.model(this))
        val failed = screen.until { "Not today" in it.texts() }
        expect("Try again" in failed.texts(), "a button")
        isRefused = false
        @Suppress("UNCHECKED_CAST") (failed.all("Button").single()["onClick"] as () -> Unit)()
        val item = screen.until { it.all("Item").size == 1 }.all("Item").single()
        screen.list.window = 0..1000
        screen.list.items = listOf(LazyListState.Item(0, item["key"]!!, 0, 100))
        screen.compose()
        delay(20)
        service.pages = mapOf("/feed" to page(cell("x"), cell("a")))
        screen.model.refresh()
        val root = screen.until { "1 new" in it.texts() }
        @Suppress("UNCHECKED_CAST") (root.all("Button").single { "1 new" in it.texts() }["onClick"] as () -> Unit)()
        until { screen.list.scrolledTo == 0 }
    }
    test("a stopped screen follows nothing, and nothing runs after it is disposed") {
        val service = Service(cell("a"))
        val screen = Screen(this, service.model(this))
        screen.owner.lifecycle.current.value = Lifecycle.State.CREATED
        screen.compose()
        delay(30)
        expectEqual(service.transport.requests.size, 0, "requests of a stopped screen")
        screen.owner.lifecycle.current.value = Lifecycle.State.STARTED
        screen.until { it.all("Item").size == 1 }
        screen.dispose()
        val count = service.transport.requests.size
        screen.model.retry()
        delay(30)
        expectEqual(service.transport.requests.size, count)
    }
}

fun main() {
    modelTests()
    adapterTests()
    composeTests()
    Harness.end()
}
