package intertwine.client

import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch

/** Tests with the real binary. */
fun modelTests(tests: Tests) {
    tests.test("real: pages in both directions, feeds and a cell") {
        RealServer(RealServer.items(45)).use { server ->
            val client = FeedClient(server.base)
            val first = client.page(client.url())
            var page = first
            val ids = first.cells.mapTo(ArrayList()) { it.id }
            while (true) {
                page = client.next(page) ?: break
                ids += page.cells.map { it.id }
            }
            expectEqual(ids.filter { it.startsWith("user:") }, (0 until 45).map { "user:u$it" })
            while (true) page = client.previous(page) ?: break
            expectEqual(page.cells.map { it.id }, first.cells.map { it.id })
            expectEqual(client.feeds().map { it.name }, listOf("main"))
            expectEqual(client.cell("user:u3").bindings["username"]?.text, "u3")
            val problem = expectFailure<FeedProblem.Refused> { client.cell("user:none") }
            expectEqual(problem.details.status, 404)
            val ad = first.cells.first { it.id.startsWith("ad:") }
            expect(ad.isAdvertisement && first.cells.none { it.isAdvertisement != it.id.startsWith("ad:") }) { "ads are recognized" }
            val strict = FeedClient(server.base, capabilities = "UserSnapshotCollectionViewCell, *;q=0")
            expect(strict.page(strict.url()).cells.none { it.isAdvertisement }) { "only supported cells are sent" }
        }
    }

    tests.test("real: selects, dismisses, undoes and reports an impression") {
        RealServer(RealServer.items(10)).use { server ->
            val client = FeedClient(server.base, viewer = "me")
            val list = FeedList(client)
            val actions = Actions(client)
            list.loadNext()
            fun ids() = list.sections.flatMap { it.cells }.map { it.id }
            val user = list.sections[0].cells.first { it.id == "user:u3" }
            val selected = actions.perform(CellSlot.Selection, user) as Invocation.Performed
            expectEqual(selected.presentation["screen"].text, "ImageZoom")
            val undo = checkNotNull(actions.perform(CellSlot.Dismissal, user, OptimisticChange.hiding(user, list)).undo)
            list.refresh()
            expect(user.id !in ids()) { "the dismissed cell is gone" }
            actions.undo(undo)
            list.refresh()
            expect(user.id in ids()) { "the cell is back" }
            // A second undo has nothing to revert.
            expectFailure<FeedProblem> { actions.undo(Invocation.Undo("k", null, undo.request, null)) }
            var now = 0.seconds
            Impressions(client, clock = { now }).use { impressions ->
                val ad = list.sections[0].cells.first { it.isAdvertisement }
                impressions.record(listOf(Impressions.VisibleCell(ad, 1.0)))
                now = 5.seconds
                impressions.record(emptyList())
                expectEqual(impressions.pendingCount, 1)
                impressions.flush()
                expectEqual(impressions.pendingCount, 0)
            }
        }
    }

    tests.test("real: live updates arrive, and continue after the server is killed") {
        RealServer(RealServer.items(30)).use { server ->
            val client = FeedClient(server.base)
            val list = FeedList(client)
            val collecting = launch { list.updates(interval = 1.seconds).collect {} }
            fun has(id: String) = list.sections.any { section -> section.cells.any { it.id == id } }
            eventually("the first page") { has("user:u0") }
            expectEqual(server.operate("""{"insert": ${RealServer.user("new")}, "before": "user:u0"}"""), 200)
            eventually("an inserted cell") { has("user:new") }
            server.restart {}
            expectEqual(server.operate("""{"remove": "user:new"}"""), 200)
            eventually("a change after the restart") { !has("user:new") }
            expect(list.sections.isNotEmpty()) { "the list stays" }
            collecting.cancelAndJoin()
        }
    }

    tests.test("real: a full outbox is sent once and in order after the process ended", limit = 2.minutes) {
        RealServer(RealServer.items(5)).use { server ->
            val client = FeedClient(server.base, viewer = "me")
            val store = MemoryStore()
            val users = client.page(client.url()).cells.filter { !it.isAdvertisement }
            val count = if (isLong) Outbox.MAX_ENTRIES else 60
            val offline = FeedClient(server.base, viewer = "me", retry = never, transport = FixtureTransport { throw java.io.IOException("offline") })
            val before = Actions(offline, store)
            repeat(count) { index ->
                val slot = if (index % 2 == 0) CellSlot.Dismissal else CellSlot.Selection
                before.perform(slot, users[index % users.size])
            }
            expectEqual(before.pendingCount.value, count)
            if (isLong) expectFailure<FeedProblem.OutboxIsFull> { before.perform(CellSlot.Selection, users[0]) }
            // Another process begins with the stored text only. It is killed after some of the actions, and a third one continues.
            val killed = Actions(client, store)
            launch { killed.sendPending() }.let { sending ->
                eventually("some actions are sent") { killed.pendingCount.value in 1 until count - 5 }
                sending.cancelAndJoin()
            }
            val failures = ArrayList<String>()
            val after = Actions(client, store, onFailure = { failures.add(it.key) })
            expect(after.sendPending()) { "all actions are sent" }
            expectEqual(after.pendingCount.value, 0)
            expectEqual(failures, emptyList<String>(), "no action failed")
            val shown = client.page(client.url()).cells.filter { !it.isAdvertisement }
            expectEqual(shown.size, 0, "each user was dismissed")
        }
    }

    val operations = if (isLong) 1000 else 100
    tests.test("real: $operations random operations equal a new pagination", limit = 20.minutes) {
        val random = Random(seed)
        RealServer(RealServer.items(60)).use { server ->
            val client = FeedClient(server.base, viewer = "me")
            val list = FeedList(client, client.url(limit = 10))
            val world = World(server, list, Actions(client), random)
            repeat(4) { list.loadNext() }
            var shown = emptyList<FeedSection>()
            while (world.count < operations) {
                repeat(random.nextInt(1, 13)) { world.change() }
                if (random.nextInt(12) == 0) list.loadNext()
                list.setVisibleRange(0..random.nextInt(60))
                list.refresh()
                val fresh = FeedList(client, client.url(limit = 10))
                repeat(list.pageCount) { fresh.loadNext() }
                fun cells(list: FeedList) = list.sections.flatMap { it.cells }
                expectEqual(cells(list).map { it.id }, cells(fresh).map { it.id }, "seed $seed, after ${world.count}")
                expectEqual(cells(list).map { it.bindings }, cells(fresh).map { it.bindings }, "seed $seed, after ${world.count}")
                val update = FeedUpdate.between(shown, list.sections)
                expectEqual(performed(update, shown), list.sections.map { it.rows }, "seed $seed, the batch update after ${world.count}")
                shown = list.sections
            }
        }
    }

    tests.test("real: the list follows random operations by live updates", limit = 5.minutes) {
        val random = Random(seed + 1)
        RealServer(RealServer.items(60)).use { server ->
            val client = FeedClient(server.base, viewer = "me")
            val list = FeedList(client, client.url(limit = 10))
            val world = World(server, list, Actions(client), random)
            var shown = emptyList<FeedSection>()
            val collecting = launch {
                list.updates(interval = 500.milliseconds).collect { update ->
                    expectEqual(performed(update, shown), update.sections.map { it.rows }, "a batch update")
                    shown = update.sections
                }
            }
            eventually("the first page") { list.pageCount > 0 }
            list.loadNext()
            repeat(if (isLong) 40 else 6) {
                repeat(random.nextInt(1, 8)) { world.change() }
                val fresh = FeedList(client, client.url(limit = 10))
                repeat(list.pageCount) { fresh.loadNext() }
                eventually("seed $seed: the list is up to date and shown") {
                    fun ids(sections: List<FeedSection>) = sections.flatMap { it.cells }.map { it.id }
                    ids(list.sections) == ids(fresh.sections) && ids(shown) == ids(list.sections)
                }
            }
            collecting.cancelAndJoin()
        }
    }
}

/** Performs a batch update as a collection view does: deletions by old positions, then insertions by new positions. */
fun performed(update: FeedUpdate, old: List<FeedSection>): List<List<FeedSection.Row>> {
    val removed = update.deletions + update.moves.map { it.from }
    val staying = old.indices.filter { it !in update.sectionDeletions }
    val sections = staying.mapTo(ArrayList()) { section ->
        old[section].rows.filterIndexed { item, _ -> IndexPath(section, item) !in removed }.toMutableList()
    }
    for (section in update.sectionInsertions) sections.add(section, update.sections[section].rows.toMutableList())
    val placed = update.insertions.map { it to update.sections[it.section].rows[it.item] } +
        update.moves.map { it.to to old[it.from.section].rows[it.from.item] }
    for ((path, row) in placed.sortedBy { it.first }) sections[path.section].add(path.item, row)
    for (path in update.reconfigurations) sections[path.section][path.item] = update.sections[path.section].rows[path.item]
    return sections
}

/** Random operations of operators and of a viewer. */
private class World(private val server: RealServer, private val list: FeedList, private val actions: Actions, private val random: Random) {
    private val users = (0 until 60).mapTo(ArrayList()) { "u$it" }
    private val undos = ArrayList<Invocation.Undo>()
    private var names = 0
    var count = 0
        private set

    suspend fun change() {
        count += 1
        val choice = random.nextInt(10)
        if (choice < 2 || users.isEmpty()) {
            val name = "n${++names}".also(users::add)
            return expectEqual(server.operate("""{"append": ${RealServer.user(name)}}"""), 200)
        }
        val index = random.nextInt(users.size)
        when (choice) {
            2, 3 -> {
                val name = "n${++names}"
                expectEqual(server.operate("""{"insert": ${RealServer.user(name)}, "before": "user:${users[index]}"}"""), 200)
                users.add(index, name)
            }
            4 -> expectEqual(server.operate("DELETE", "/admin/items/user/${users.removeAt(index)}"), 204)
            5, 6 -> {
                if (users.size < 2) return
                val user = users.removeAt(index)
                expectEqual(server.operate("""{"move": "user:$user", "before": "user:${users.random(random)}"}"""), 200)
                users.add(user)
            }
            7 -> {
                val user = RealServer.user(users[index], "N${++names}")
                expectEqual(server.operate("PUT", "/admin/items/user/${users[index]}", user, "If-Match" to "*"), 200)
            }
            8 -> {
                val cell = list.sections.flatMap { it.cells }.ifEmpty { return }.random(random)
                try {
                    actions.perform(CellSlot.Dismissal, cell, OptimisticChange.hiding(cell, list)).undo?.let(undos::add)
                } catch (problem: FeedProblem.Refused) {
                    // An operator has removed the cell in the meantime.
                    expectEqual(problem.details.status, 404)
                }
            }
            else -> undos.removeLastOrNull()?.let { actions.undo(it) }
        }
    }
}

/** A storage that outlives the objects that use it. */
class MemoryStore(@Volatile var text: String? = null) : OutboxStore {
    override fun read(): String? = text

    override fun write(text: String) {
        this.text = text
    }
}
