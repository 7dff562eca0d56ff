package intertwine.tests

import intertwine.client.CellSlot
import intertwine.client.FeedProblem
import intertwine.client.HttpResponse
import intertwine.tests.Harness.test
import intertwine.ui.FeedEvent
import intertwine.ui.FeedModel
import intertwine.ui.FeedState
import java.io.IOException
import kotlinx.coroutines.launch

fun FeedModel.ids(): List<String> = state.value.sections.flatMap { it.cells }.map { it.id }

fun modelTests() {
    test("a failed first page is a phase, and is loaded again on request") {
        val service = Service(cell("a"))
        var isAvailable = false
        service.respond = { if (isAvailable) null else throw IOException("offline") }
        val model = service.model(this)
        launch { model.run() }
        until { model.state.value.phase is FeedState.Phase.Failed }
        isAvailable = true
        model.retry()
        until { model.state.value.phase == FeedState.Phase.Loaded }
        expectEqual(model.ids(), listOf("a"))
        expect(model.state.value.isAtEnd && !model.state.value.isEmpty, "the only page")
    }
    test("a dismissal hides the cell at once, and its undo shows it again") {
        val service = Service(cell("a"), cell("b"))
        service.respond = { request ->
            if (request.url.endsWith("/a/dismissal")) json("""{"commands": [], "undo": {"type": "request", "method": "DELETE", "href": "/invocations/1"}}""") else null
        }
        val model = service.model(this)
        launch { model.run() }
        until { model.ids().size == 2 }
        model.perform(CellSlot.Dismissal, model.state.value.sections[0].cells[0])
        until { model.state.value.notice != null && model.ids() == listOf("b") }
        val notice = model.state.value.notice!!
        expectEqual(notice.message, "Dismissed")
        model.undo(notice)
        until { model.ids() == listOf("a", "b") }
        expectEqual(model.state.value.notice, null)
        expectEqual(service.paths("DELETE"), listOf("/invocations/1"))
    }
    test("a refused dismissal returns the cell, with a notice without undo") {
        val service = Service(cell("a"))
        service.respond = { request -> if (request.method == "POST") json("""{"title": "No"}""", 404) else null }
        val model = service.model(this)
        launch { model.run() }
        until { model.ids().size == 1 }
        model.perform(CellSlot.Dismissal, model.state.value.sections[0].cells[0]).join()
        until { model.ids() == listOf("a") }
        expectEqual(model.state.value.notice?.message to model.state.value.notice?.undo, "No" to null)
    }
    test("without a server, a dismissal waits and can be undone") {
        val service = Service(cell("a"), cell("b"))
        service.respond = { request -> if (request.method == "POST") throw IOException("offline") else null }
        val model = service.model(this)
        launch { model.run() }
        until { model.ids().size == 2 }
        model.perform(CellSlot.Dismissal, model.state.value.sections[0].cells[0]).join()
        until { model.ids() == listOf("b") }
        expectEqual(model.actions.pendingCount.value, 1)
        model.undo(model.state.value.notice!!)
        until { model.ids().size == 2 }
        expectEqual(model.actions.pendingCount.value, 0)
    }
    test("the next page is loaded near the end, and after a problem on request only") {
        val service = Service()
        service.pages = mapOf("/feed" to page(cell("a"), cell("b"), next = "/next"))
        val model = service.model(this)
        launch { model.run() }
        until { model.ids().size == 2 }
        val key = model.state.value.sections[0].rows[1].key
        model.setVisible(mapOf(key to 1f))
        until { model.state.value.nextProblem is FeedProblem.Refused }
        service.pages = service.pages + ("/next" to page(cell("c")))
        model.setVisible(mapOf(key to 1f))
        expectEqual(service.paths("GET").count { it == "/next" }, 1)
        model.retry()
        until { model.ids().size == 3 && model.state.value.isAtEnd }
        expectEqual(model.state.value.nextProblem, null)
    }
    test("new cells above the visible ones are counted until they are visible") {
        val service = Service(cell("a"), cell("b"))
        val model = service.model(this)
        launch { model.run() }
        until { model.ids().size == 2 }
        model.setVisible(mapOf(model.state.value.sections[0].rows[0].key to 1f))
        service.pages = mapOf("/feed" to page(cell("x"), cell("y"), cell("a"), cell("b")))
        model.refresh()
        until { model.state.value.newCount == 2 && !model.state.value.isRefreshing }
        model.setVisible(mapOf(model.state.value.sections[0].rows[1].key to 0.5f))
        expectEqual(model.state.value.newCount, 1)
        model.setVisible(mapOf(model.state.value.sections[0].rows[0].key to 0.5f))
        expectEqual(model.state.value.newCount, 0)
    }
    test("an ad and a cell that returns are not counted as new") {
        val service = Service(cell("a"), cell("b"))
        val model = service.model(this)
        launch { model.run() }
        until { model.ids().size == 2 }
        service.pages = mapOf("/feed" to page(cell("b")))
        model.refresh()
        until { model.ids() == listOf("b") && !model.state.value.isRefreshing }
        model.setVisible(mapOf(model.state.value.sections[0].rows[0].key to 1f))
        service.pages = mapOf("/feed" to page(adCell, cell("a"), cell("b")))
        model.refresh()
        until { model.ids().size == 3 && !model.state.value.isRefreshing }
        expectEqual(model.state.value.newCount, 0)
    }
    test("a presentation and a link are events") {
        val service = Service(cell("a"))
        service.respond = { request ->
            if (request.method == "POST") json("""{"commands": [], "presentation": {"screen": "Zoom"}, "open": {"href": "https://shop.example.com/1"}}""") else null
        }
        val model = service.model(this)
        val events = ArrayList<FeedEvent>()
        launch { model.run() }
        launch { model.events.collect { events.add(it) } }
        until { model.ids().size == 1 }
        model.perform(CellSlot.Selection, model.state.value.sections[0].cells[0])
        until { events.size == 2 }
        expectEqual((events[0] as FeedEvent.Open).url, "https://shop.example.com/1")
        expectEqual((events[1] as FeedEvent.Present).presentation["screen"].toString(), "\"Zoom\"")
    }
    test("an impression counts once its pictures are loaded") {
        val service = Service(adCell)
        val model = service.model(this)
        launch { model.run() }
        until { model.ids().size == 1 }
        val key = model.state.value.sections[0].rows[0].key
        model.setLoading(key, "photo", isLoading = true)
        model.setVisible(mapOf(key to 1f))
        expectEqual(model.impressions.pendingCount, 0)
        model.setLoading(key, "photo", isLoading = false)
        until { model.impressions.pendingCount == 1 }
        model.close()
    }
    test("the impressions are sent before a link is opened") {
        val event = """{"type": "request", "method": "POST", "href": "/events", "viewable": {"share": 0.5, "seconds": 0}, "body": {"events": [{"token": "t"}]}}"""
        val links = listOf("""{"type": "link", "href": "/click/x"}""", """{"type": "request", "method": "POST", "href": "/selection"}""")
        for (link in links) {
            val service = Service(cell("ad:1", slots = emptyList(), more = """, "selection": $link, "impression": $event"""))
            service.respond = { request -> if (request.url.endsWith("/selection")) json("""{"commands": [], "open": {"href": "/click/x"}}""") else null }
            val model = service.model(this)
            val sentBefore = ArrayList<Boolean>()
            launch { model.run() }
            launch { model.events.collect { if (it is FeedEvent.Open) sentBefore.add("/events" in service.paths("POST")) } }
            until { model.ids().size == 1 }
            model.setVisible(mapOf(model.state.value.sections[0].rows[0].key to 1f))
            until { model.impressions.pendingCount == 1 }
            model.perform(CellSlot.Selection, model.state.value.sections[0].cells[0]).join()
            until { sentBefore.isNotEmpty() }
            expectEqual(sentBefore.toList(), listOf(true))
        }
    }
    test("ads have a label, with the advertiser if there is one") {
        val model = Service(adCell, cell("user:2")).model(this)
        launch { model.run() }
        until { model.ids().size == 2 }
        val (ad, user) = model.state.value.sections[0].cells
        expectEqual(model.texts.disclosure(ad), "Sponsored · Lamps")
        expectEqual(model.texts.disclosure(user), null)
        expectEqual(model.texts.menu(user).map { it.second }, listOf("Dismiss"))
    }
}
