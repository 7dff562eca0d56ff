package intertwine.client

import java.io.IOException
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.async
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.delay
import kotlinx.serialization.json.JsonPrimitive

private const val PAGE = """{"cells": [{"id": "user:a", "actions": {"dismissal": {"type": "request", "method": "POST", "href": "/dismiss"}}},
    {"id": "user:b"}], "page": {}}"""

/** A server whose responses to actions a test sets. Null is no response. */
private class Server {
    @Volatile var response: HttpResponse? = jsonResponse("""{"slot": "dismissal", "commands": []}""")
    val transport = FixtureTransport { request ->
        if (request.method == "GET") jsonResponse(PAGE) else response ?: throw IOException("offline")
    }
    val client = FeedClient("http://a.example", viewer = "me", retry = never, transport = transport)
    val list = FeedList(client)
    val sent: List<HttpRequest> get() = transport.requests.filter { it.method != "GET" }

    suspend fun cell(): FeedCell {
        if (list.pageCount == 0) list.loadNext()
        return list.sections[0].cells.first { it.id == "user:a" }
    }

    val ids: List<String> get() = list.sections.flatMap { it.cells }.map { it.id }
}

fun actionTests(tests: Tests) {
    tests.test("actions: a refused dismissal shows the cell again, at its position") {
        val server = Server()
        val actions = Actions(server.client)
        val cell = server.cell()
        server.response = HttpResponse(409)
        expectFailure<FeedProblem.Refused> { actions.perform(CellSlot.Dismissal, cell, OptimisticChange.hiding(cell, server.list)) }
        expectEqual(server.ids, listOf("user:a", "user:b"))
        expectEqual(actions.pendingCount.value, 0)
    }

    val logins = mapOf(
        "302 to a login page" to HttpResponse(302, mapOf("Location" to "https://login.example.com/", "Content-Type" to "text/html"), "<h1>".encodeToByteArray()),
        "200 text/html" to HttpResponse(200, mapOf("Content-Type" to "text/html"), "<h1>Sign in</h1>".encodeToByteArray()),
        "401" to HttpResponse(401))
    for ((name, login) in logins) {
        tests.test("actions: $name rolls back, says that a sign-in is needed, and keeps the outbox") {
            val server = Server()
            val cell = server.cell()
            // One action waits since the network was away.
            val store = MemoryStore()
            val actions = Actions(server.client, store)
            server.response = null
            expect(actions.perform(CellSlot.Dismissal, cell) is Invocation.Queued) { "queued" }
            server.response = login
            val event = async(start = CoroutineStart.UNDISPATCHED) { server.client.signInRequired.first() }
            expectEqual(actions.sendPending(), false)
            expect(event.await().needsSignIn) { "the event" }
            expectEqual(actions.pendingCount.value, 1, "the action waits")
            // An action of the moment is rolled back.
            val fresh = Actions(server.client)
            val problem = expectFailure<FeedProblem> { fresh.perform(CellSlot.Dismissal, cell, OptimisticChange.hiding(cell, server.list)) }
            expect(problem.needsSignIn) { "$problem" }
            if (login.status == 302) expectEqual((problem as FeedProblem.SignInRequired).location, "https://login.example.com/")
            expectEqual(server.ids, listOf("user:a", "user:b"))
            // After the sign-in, the waiting action is sent once, with its key.
            server.response = HttpResponse(204)
            expect(actions.sendPending()) { "sent" }
            val keys = server.sent.map { it.headers["Idempotency-Key"] }
            expectEqual(keys.first(), keys.last())
            expectEqual(store.text, "[]")
        }
    }

    tests.test("actions: a queued dismissal stays hidden, is undone while it waits, and is sent in order otherwise") {
        val server = Server()
        val cell = server.cell()
        val actions = Actions(server.client, MemoryStore())
        server.response = HttpResponse(503)
        val queued = actions.perform(CellSlot.Dismissal, cell, OptimisticChange.hiding(cell, server.list))
        expectEqual(server.ids, listOf("user:b"))
        actions.undo(checkNotNull(queued.undo))
        expectEqual(server.ids, listOf("user:a", "user:b"))
        expectEqual(actions.pendingCount.value, 0)
        expectFailure<FeedProblem.CannotBeUndone> { actions.undo(checkNotNull(queued.undo)) }
        val keys = (1..3).map { "key$it" }
        for (key in keys) actions.perform(CellSlot.Dismissal, cell, key = key, input = JsonPrimitive(key))
        val before = server.sent.size
        server.response = HttpResponse(204)
        expect(actions.perform(CellSlot.Dismissal, cell, key = "key4") is Invocation.Performed) { "performed after the queued ones" }
        expectEqual(server.sent.drop(before).map { it.headers["Idempotency-Key"] }, keys + "key4")
    }

    tests.test("actions: a refused waiting action is reverted and reported, an old one is not sent") {
        val server = Server()
        val cell = server.cell()
        val failures = ArrayList<Actions.Failure>()
        val actions = Actions(server.client, onFailure = failures::add)
        server.response = null
        actions.perform(CellSlot.Dismissal, cell, OptimisticChange.hiding(cell, server.list), key = "old")
        actions.perform(CellSlot.Dismissal, cell, key = "new")
        server.response = HttpResponse(404)
        expect(actions.sendPending()) { "nothing waits" }
        expectEqual(failures.map { it.key to (it.problem as? FeedProblem.Refused)?.details?.status }, listOf("old" to 404, "new" to 404))
        expectEqual(server.ids, listOf("user:a", "user:b"))
        server.response = null
        val now = server.client.now()
        actions.perform(CellSlot.Dismissal, cell, key = "older")
        // The clock is set back by two days: the action is not too old, and is not lost.
        server.client.now = { now - 2 * 24 * 3600 * 1000 }
        expectEqual(actions.sendPending(), false)
        expectEqual(actions.pendingCount.value, 1)
        server.client.now = { now + 25L * 3600 * 1000 }
        server.response = HttpResponse(204)
        val before = server.sent.size
        expect(actions.sendPending()) { "nothing waits" }
        expectEqual(server.sent.size, before, "the server has forgotten the key")
        expectEqual(failures.last().key to failures.last().problem, "older" to null)
    }

    tests.test("actions: a cancelled action is reverted, and the actions of another viewer wait") {
        val server = Server()
        val cell = server.cell()
        val transport = FixtureTransport { awaitCancellation() }
        val hanging = Actions(FeedClient("http://a.example", transport = transport))
        val performing = launch { hanging.perform(CellSlot.Dismissal, cell, OptimisticChange.hiding(cell, server.list)) }
        eventually("the request") { transport.requests.isNotEmpty() }
        expectEqual(server.ids, listOf("user:b"))
        performing.cancelAndJoin()
        expectEqual(server.ids, listOf("user:a", "user:b"))
        val actions = Actions(server.client)
        server.response = null
        actions.perform(CellSlot.Dismissal, cell)
        server.client.viewer = "other"
        server.response = HttpResponse(204)
        val before = server.sent.size
        expect(actions.sendPending()) { "nothing of this viewer waits" }
        expectEqual(server.sent.size to actions.pendingCount.value, before to 1)
    }

    tests.test("actions: an undo has the problem of its status") {
        val server = Server()
        val cell = server.cell()
        val actions = Actions(server.client)
        server.response = jsonResponse("""{"commands": [], "undo": {"type": "request", "method": "DELETE", "href": "/invocations/1", "expiresAt": "2026-01-02T03:04:05Z"}}""")
        val undo = checkNotNull(actions.perform(CellSlot.Dismissal, cell, OptimisticChange.hiding(cell, server.list)).undo)
        server.response = HttpResponse(410)
        expectFailure<FeedProblem.UndoExpired> { actions.undo(undo) }
        server.response = HttpResponse(409)
        expectFailure<FeedProblem.CannotBeUndone> { actions.undo(undo) }
        expectEqual(server.ids, listOf("user:b"))
        server.response = jsonResponse("""{"commands": []}""")
        actions.undo(undo)
        expectEqual(server.ids, listOf("user:a", "user:b"))
        expectEqual(server.sent.last().run { method to url }, "DELETE" to "http://a.example/invocations/1")
    }

    tests.test("actions: a storage that cannot be written keeps the actions of this process") {
        val server = Server()
        val store = object : OutboxStore {
            override fun read(): String = throw IOException("no disk")
            override fun write(text: String): Unit = throw IOException("no disk")
        }
        val actions = Actions(server.client, store)
        server.response = null
        expect(actions.perform(CellSlot.Dismissal, server.cell()) is Invocation.Queued) { "queued" }
        server.response = HttpResponse(204)
        expect(actions.sendPending()) { "sent" }
        expectEqual(actions.pendingCount.value, 0)
    }
}

fun impressionTests(tests: Tests) {
    fun ad(token: String, seconds: Double = 1.0) =
        cell("ad:1", """{"impression": {"type": "request", "method": "POST", "href": "/events", "viewable": {"share": 0.5, "seconds": $seconds},
            "body": {"events": [{"type": "impression", "cell": "ad:1", "token": "$token"}]}}}""")

    tests.test("impressions: share, time and loaded pictures count, and each one once") {
        val server = Server()
        var now = 0.seconds
        Impressions(server.client, clock = { now }).use { impressions ->
            fun record(time: Int, vararg cells: Impressions.VisibleCell): Int {
                now = time.seconds
                impressions.record(cells.toList())
                return impressions.pendingCount
            }
            val cell = ad("t", seconds = 10.0)
            record(0, Impressions.VisibleCell(cell, 0.4))
            expectEqual(record(20, Impressions.VisibleCell(cell, 0.6)), 0, "too small a share")
            expectEqual(record(25, Impressions.VisibleCell(cell, 0.6, isLoaded = false)), 0)
            expectEqual(record(50, Impressions.VisibleCell(cell, 0.6)), 0, "its picture was not loaded")
            expectEqual(record(55), 0, "too short a time")
            record(60, Impressions.VisibleCell(cell, 0.5))
            expectEqual(record(70), 1)
            record(80, Impressions.VisibleCell(cell, 1.0))
            expectEqual(record(200, Impressions.VisibleCell(ad("t", seconds = 10.0), 1.0)), 1, "reported once")
            impressions.flush()
            expectEqual(server.sent.map { it.body?.decodeToString() }, listOf("""{"events":[{"type":"impression","cell":"ad:1","token":"t"}]}"""))
        }
    }

    tests.test("impressions: they stay queued at a login page, and are sent again by themselves, with their key") {
        val server = Server()
        for (response in listOf(HttpResponse(302), HttpResponse(200, mapOf("Content-Type" to "text/html"), byteArrayOf(60)), HttpResponse(401), HttpResponse(503), null)) {
            server.response = response
            var now = 0.seconds
            val client = FeedClient("http://a.example", retry = Delays().policy(maxAttempts = 1), transport = server.transport)
            Impressions(client, clock = { now }).use { impressions ->
                impressions.record(listOf(Impressions.VisibleCell(ad("t${response?.status}"), 1.0)))
                now = 5.seconds
                val before = server.sent.size
                impressions.record(emptyList())
                eventually("several attempts") { server.sent.size > before + 3 }
                expectEqual(impressions.pendingCount, 1)
                server.response = jsonResponse("""{"results": []}""")
                eventually("accepted") { impressions.pendingCount == 0 }
                expectEqual(server.sent.drop(before).mapTo(HashSet()) { it.headers["Idempotency-Key"] }.size, 1)
            }
        }
        server.response = HttpResponse(400)
        var now = 0.seconds
        Impressions(server.client, clock = { now }).use { impressions ->
            impressions.record(listOf(Impressions.VisibleCell(ad("refused"), 1.0)))
            now = 5.seconds
            impressions.record(emptyList())
            impressions.flush()
            expectEqual(impressions.pendingCount, 0, "a refused batch would be refused again")
        }
    }

    tests.test("impressions: those of another viewer wait for that viewer, also in the storage") {
        val server = Server()
        val store = MemoryStore()
        var now = 0.seconds
        server.response = null
        Impressions(server.client, store, clock = { now }).use { impressions ->
            for (viewer in listOf("me", "other")) {
                server.client.viewer = viewer
                impressions.record(listOf(Impressions.VisibleCell(ad(viewer), 1.0)))
                now += 5.seconds
                impressions.record(emptyList())
            }
            impressions.flush()
        }
        server.response = HttpResponse(204)
        Impressions(server.client, store).use { impressions ->
            impressions.flush()
            expectEqual(server.sent.last().run { headers["X-Viewer-ID"] to ("other" in body?.decodeToString().orEmpty()) }, "other" to true)
            expectEqual(impressions.pendingCount, 1)
            server.client.viewer = "me"
            impressions.flush()
            expectEqual(server.sent.last().run { headers["X-Viewer-ID"] to ("me" in body?.decodeToString().orEmpty()) }, "me" to true)
            expectEqual(impressions.pendingCount, 0)
        }
    }

    tests.test("impressions: those that wait outlive the process") {
        val server = Server()
        val store = MemoryStore()
        server.response = null
        var now = 0.seconds
        Impressions(server.client, store, clock = { now }).use { impressions ->
            impressions.record((1..150).map { Impressions.VisibleCell(ad("t$it"), 1.0) })
            now = 5.seconds
            impressions.record(emptyList())
            impressions.flush()
            expectEqual(impressions.pendingCount, 150)
        }
        server.response = HttpResponse(204)
        val before = server.sent
        Impressions(server.client, store).use { it.flush() }
        val sent = server.sent.drop(before.size)
        expectEqual(sent.size, 2, "two batches")
        expectEqual(sent[0].headers["Idempotency-Key"], before[0].headers["Idempotency-Key"], "the key")
        expectEqual(store.text, "[]")
    }
}

fun imageTests(tests: Tests) {
    fun cell(id: Int, href: String = "/i$id") =
        cell("user:$id", """{"configuration": {"type": "bind", "bindings": {"avatar": {"type": "image", "href": "$href", "color": "#000000"}}},
            "cancellation": {"type": "request", "method": "DELETE", "href": "/requests/{request}", "templated": true}}""")
    fun image(request: HttpRequest) = HttpResponse(200, mapOf("Content-Type" to "image/png"), request.url.encodeToByteArray())

    tests.test("images: the placeholder, then the image; requests of one image are one; the cache has it") {
        val transport = FixtureTransport { request -> delay(20); image(request) }
        ImageLoader(FeedClient("http://a.example", transport = transport)).use { loader ->
            List(5) {
                launch {
                    val images = ArrayList<CellImage>()
                    loader.images(cell(1), scale = 2f).collect(images::add)
                    expectEqual((images[0] as CellImage.Placeholder).color, 0xFF shl 24)
                    expectEqual((images[1] as CellImage.Loaded).bytes.decodeToString(), "http://example.com/i1")
                }
            }.forEach { it.join() }
            val cached = ArrayList<CellImage>()
            loader.images(cell(1), scale = 2f).collect(cached::add)
            expect(cached.single() is CellImage.Loaded) { "no placeholder before a cached image" }
            expectEqual(transport.requests.size, 1)
        }
    }

    tests.test("images: visible ones first, at most four at a time, and a cancelled one is not sent") {
        var active = 0
        var most = 0
        val permits = Channel<Unit>(Channel.UNLIMITED)
        val transport = FixtureTransport { request ->
            synchronized(tests) { active += 1; most = maxOf(most, active) }
            permits.receive()
            synchronized(tests) { active -= 1 }
            image(request)
        }
        ImageLoader(FeedClient("http://a.example", transport = transport)).use { loader ->
            val prefetching = List(8) { launch { loader.prefetch(listOf(cell(it)), scale = 1f) } }
            eventually("four requests") { transport.requests.size == 4 }
            prefetching[7].cancelAndJoin()
            val visible = launch { loader.images(cell(99), scale = 1f).collect {} }
            // Time to queue the image.
            delay(200)
            permits.send(Unit)
            eventually("a fifth request") { transport.requests.size == 5 }
            repeat(20) { permits.send(Unit) }
            visible.join()
            prefetching.forEach { it.join() }
            val order = transport.requests.map { it.url.substringAfterLast("/i").toInt() }
            expectEqual(order[4], 99, "the visible image is next")
            expect(7 !in order) { "a cancelled image was requested" }
            expectEqual(most, 4)
        }
    }

    tests.test("images: a cancelled request ends here and in the server, and one with another waiter goes on") {
        val gate = CompletableDeferred<Unit>()
        val transport = FixtureTransport { request -> if (request.method == "GET") { gate.await(); image(request) } else HttpResponse(204) }
        ImageLoader(FeedClient("http://a.example", transport = transport)).use { loader ->
            val one = launch { loader.images(cell(1), 1f).collect {} }
            val other = launch { loader.images(cell(1), 1f).collect { if (it is CellImage.Failed) throw it.problem } }
            val alone = launch { loader.images(cell(2), 1f).collect {} }
            eventually("two requests") { transport.requests.size == 2 }
            one.cancelAndJoin()
            alone.cancelAndJoin()
            eventually("the cancellation") { transport.requests.any { it.method == "DELETE" } }
            val id = transport.requests.first { it.url.endsWith("/i2") }.headers["X-Request-ID"]
            expectEqual(transport.requests.last().url, "http://a.example/requests/$id")
            gate.complete(Unit)
            other.join()
            expectEqual(transport.requests.size, 3)
        }
    }

    tests.test("images: a refusal, a page instead of an image, and a closed loader fail") {
        val transport = FixtureTransport { request -> if ("i1" in request.url) HttpResponse(404) else jsonResponse("{}") }
        val loader = ImageLoader(FeedClient("http://a.example", transport = transport))
        suspend fun problem(id: Int): FeedProblem {
            var problem: FeedProblem? = null
            loader.images(cell(id), 1f).collect { if (it is CellImage.Failed) problem = it.problem }
            return checkNotNull(problem)
        }
        expect(problem(1) is FeedProblem.Refused) { "404" }
        expect(problem(2) is FeedProblem.InvalidResponse) { "JSON" }
        loader.close()
        var last: CellImage? = null
        loader.images(cell(3), 1f).collect { last = it }
        expect(last !is CellImage.Loaded) { "$last" }
    }
}
