package intertwine.client

import java.io.File
import java.nio.file.Files
import java.time.Instant
import kotlin.random.Random
import kotlin.time.TimeSource
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.serialization.json.Json

/** Tests without a server. */
fun unitTests(tests: Tests) {
    tests.test("dates agree with java.time, and invalid ones are refused") {
        val random = Random(seed)
        repeat(2000) {
            val text = Instant.ofEpochMilli(random.nextLong(-60_000_000_000_000, 200_000_000_000_000)).toString()
            expectEqual(Dates.milliseconds(text), Instant.parse(text).toEpochMilli(), text)
        }
        expectEqual(Dates.milliseconds("2026-01-02T03:04:05.5+01:30"), Instant.parse("2026-01-02T01:34:05.500Z").toEpochMilli())
        for (text in listOf("", "2026-13-01", "2026-02-29", "2026-01-02T24:00:00Z", "2026-01-02T03:04:05", "2026-01-02 03:04:05Z", "soon")) {
            expectEqual(Dates.milliseconds(text), null, text)
        }
    }

    tests.test("hrefs are resolved, and credentials stay with the server") {
        val base = "https://Feeds.example.com:443/a/b?c"
        expectEqual(Links.resolve("/x?y#z", base), "https://Feeds.example.com:443/x?y#z")
        expectEqual(Links.resolve("?y", base), "https://Feeds.example.com:443/a/b?y")
        expectEqual(Links.resolve("x", base), "https://Feeds.example.com:443/a/x")
        expectEqual(Links.resolve("//other.example.com/x", base), "https://other.example.com/x")
        for (href in listOf("", "/a b", "/a\r\nX: y")) expectEqual(Links.resolve(href, base), null, href)
        val client = FeedClient(base, viewer = "me", headers = mapOf("X-Key" to "k"), languages = listOf("de", "fr"))
        val own = client.request("GET", "https://feeds.EXAMPLE.com/x", emptyMap()).headers
        expectEqual(own, mapOf("X-Viewer-ID" to "me", "X-Key" to "k", "Accept-Language" to "de, fr;q=0.9"))
        val others = listOf("http://feeds.example.com/x", "https://feeds.example.com:8443/", "https://feeds.example.com@evil.example/", "https://evil.example/")
        for (url in others) expectEqual(client.request("GET", url, emptyMap()).headers, emptyMap(), url)
        expectFailure<FeedProblem.InvalidLink> { client.absolute("javascript:alert(1)") }
        expectFailure<IllegalArgumentException> { FeedClient("feeds.example.com") }
        expectEqual(client.url("a/b", "ü", 10, "table", 320), "https://Feeds.example.com:443/feeds/a%2Fb/sections/%C3%BC?limit=10&changes=true&layout=table&width=320")
    }

    tests.test("a registry declares its cells and has a view type for each") {
        val registry = CellRegistry<StringBuilder>()
        registry.register("B", "A b", version = 2, make = { StringBuilder() }) { view, cell -> view.append(cell.id) }
        expectEqual(registry.capabilities, "\"A b\";v=2, B;v=2, *;q=0")
        val known = checkNotNull(FeedCell.fromJson(json("""{"id": "1", "identifier": "A b"}""")))
        val unknown = checkNotNull(FeedCell.fromJson(json("""{"id": "2", "identifier": "C"}""")))
        expectEqual(registry.viewType(unknown), -1)
        registry.registerFallback({ StringBuilder("none ") }) { view, cell -> view.append(cell.id) }
        expectEqual(listOf(registry.viewType(known), registry.viewType(unknown)), listOf(1, 2))
        expectEqual(registry.capabilities, null)
        val view = checkNotNull(registry.make(registry.viewType(unknown)))
        registry.bind(view, unknown)
        expectEqual(view.toString(), "none 2")
    }

    tests.test("an ad is an ad by its fields") {
        fun isAd(members: String) = checkNotNull(FeedCell.fromJson(json("{$members}"))).isAdvertisement
        val disclosure = """"actions": {"configuration": {"type": "bind", "bindings": {"d": {"type": "disclosure", "label": "Sponsored", "advertiser": ""}}}}"""
        expect(isAd(""""id": "spot:1", $disclosure""")) { "a disclosure" }
        expect(isAd(""""id": "spot:1", "advertisement": true""")) { "a member" }
        expect(!isAd(""""id": "ad:1"""")) { "the prefix of the id is the name of a kind" }
        expect(!isAd(""""id": "ad:1", "advertisement": false, $disclosure""")) { "the member decides" }
        expectEqual(FeedCell.fromJson(json("""{"id": "x", $disclosure}"""))?.disclosure?.run { label to advertiser }, "Sponsored" to null)
    }

    tests.test("an image has the smallest sufficient scale, a color and a blurred placeholder") {
        val cell = FeedCell.fromJson(
            json("""{"id": "x", "actions": {"configuration": {"type": "bind", "bindings": {"i": {"type": "image", "href": "/i",
                "scales": [3, 1, 2], "color": "#a1b2c3", "placeholder": "1QcSHQRnh493V4dIh4eXh1h4kJUI"}}}}}"""), "http://a.example")
        val binding = checkNotNull(cell?.bindings?.get("i"))
        expectEqual(listOf(0.5f, 1f, 1.5f, 2f, 9f).map(binding::image), listOf("", "", "@2x", "@2x", "@3x").map { "http://a.example/i$it" })
        expectEqual(binding.color, 0xFFA1B2C3.toInt())
        val hash = checkNotNull(binding.thumbHash)
        expectEqual(listOf(hash.width, hash.height, hash.pixels.size), listOf(23, 32, 23 * 32))
        // The values of the JavaScript client, which rounds halves to even numbers.
        fun sum(hash: ThumbHash) = hash.pixels.sumOf { pixel -> (0..3).sumOf { (pixel ushr (8 * it)) and 255 } }
        expectEqual(listOf(hash.pixels.first(), hash.pixels.last()), listOf(0xFF404E71.toInt(), 0xFF000428.toInt()))
        expect(sum(hash) in 376_193..376_213) { "${sum(hash)}" }
        val transparent = checkNotNull(ThumbHash.of("X5qGNQw7oElslqhGWfSE+Q6oJ1h2iHB2Rw=="))
        expectEqual(listOf(transparent.pixels.first(), transparent.pixels.last()), listOf(0x00DB422E, 0x00FF7900))
        expect(sum(transparent) in 567_492..567_512) { "${sum(transparent)}" }
        for (text in listOf("", "!", "AAAA", "A".repeat(80))) expectEqual(ThumbHash.of(text), null, text)
        // All bytes decode without a failure.
        val random = Random(seed)
        repeat(500) { ThumbHash.of(kotlin.io.encoding.Base64.encode(random.nextBytes(random.nextInt(5, 41)))) }
    }

    tests.test("10,000 random batch updates lead from each list to the next") {
        val random = Random(seed)
        val cells = (0L until 40).map { cell("user:$it") }
        fun list(): List<FeedSection> {
            val entries = (0L until 40).shuffled(random).take(random.nextInt(41)).mapTo(ArrayList()) { ListEntry(it, cells[it.toInt()], random.nextInt(9) == 0) }
            repeat(random.nextInt(4)) { entries.add(random.nextInt(entries.size + 1), ListEntry(100L + it, cell("section:${random.nextInt(4)}"))) }
            return FeedSection.of(entries.distinctBy { if (it.cell.isSectionHeader) it.cell.id else it.key })
        }
        var old = emptyList<FeedSection>()
        repeat(10_000) {
            val new = list()
            val update = FeedUpdate.between(old, new)
            expectEqual(performed(update, old), new.map { it.rows }, "$old")
            expectEqual(update.isEmpty, old == new)
            old = new
        }
    }

    tests.test("updates load the first page, follow changes of it, and end with a refusal") {
        val pages = """{"cells": [{"id": "user:a"}, {"id": "user:b"}], "page": {"next": "/feed?cursor=2"}}"""
        val client = FeedClient("http://a.example", transport = FixtureTransport(pages), retry = never)
        val list = FeedList(client)
        val updates = java.util.Collections.synchronizedList(ArrayList<FeedUpdate>())
        val collecting = launch { list.updates(FeedList.SyncMode.Polling).collect(updates::add) }
        eventually("the first page") { updates.size == 1 }
        expectEqual(updates[0].insertions.size + updates[0].sections[0].rows.size, 2, "the section is inserted as a whole")
        list.hide("user:a")
        eventually("the hidden cell") { updates.size == 2 }
        expectEqual(updates[1].deletions, listOf(IndexPath(0, 0)))
        list.unhide("user:a")
        eventually("the cell is back") { updates.size == 3 }
        expectEqual(updates[2].insertions, listOf(IndexPath(0, 0)))
        collecting.cancelAndJoin()
        val refused = FeedClient("http://a.example", transport = FixtureTransport { HttpResponse(403) }, retry = never)
        expectFailure<FeedProblem.Refused> { FeedList(refused).updates.collect {} }
    }

    tests.test("hiding a cell hides the other cells of its item, and no other item whose id begins like it") {
        val primaries = listOf("user:a" to null, "user:a#photos" to "user:a", "user:a#x" to null, "user:ab" to null, "user:a#2" to "user:a")
        val cells = primaries.joinToString { (id, primary) -> if (primary == null) """{"id": "$id"}""" else """{"id": "$id", "primary": "$primary"}""" }
        val list = FeedList(FeedClient("http://a.example", transport = FixtureTransport("""{"cells": [$cells], "page": {}}""")))
        list.loadNext()
        fun shown() = list.sections.flatMap { it.cells }.map { it.id }
        list.hide("user:a")
        expectEqual(shown(), listOf("user:a#x", "user:ab"))
        list.unhide("user:a")
        list.hide("user:a#photos")
        expectEqual(shown(), listOf("user:a", "user:a#x", "user:ab", "user:a#2"))
    }

    tests.test("a slow collector gets fewer and larger updates") {
        val list = FeedList(FeedClient("http://a.example", transport = FixtureTransport("""{"cells": [{"id": "a"}, {"id": "b"}], "page": {}}""")))
        list.loadNext()
        var count = 0
        val collecting = launch { list.updates(FeedList.SyncMode.Manual).collect { count += 1; delay(50) } }
        repeat(200) {
            if (it % 2 == 0) list.hide("a") else list.unhide("a")
            delay(1)
        }
        list.hide("b")
        eventually("the last state") { list.sections[0].cells.map { it.id } == listOf("a") }
        delay(150)
        collecting.cancelAndJoin()
        expect(count in 2..30) { "$count updates" }
    }

    tests.test("concurrent calls of loadNext share one request, and a cancelled one leaves the others") {
        val transport = FixtureTransport { request ->
            delay(100)
            jsonResponse("""{"cells": [{"id": "${request.url.length}"}], "page": {"next": "${request.url}x"}}""")
        }
        val list = FeedList(FeedClient("http://a.example", transport = transport))
        val first = launch { list.loadNext() }
        val others = List(5) { launch { expect(list.loadNext()) { "a page" } } }
        delay(30)
        first.cancelAndJoin()
        others.forEach { it.join() }
        expectEqual(list.pageCount, 1)
        expectEqual(transport.requests.size, 2)
    }

    tests.test("a repeated request has the tag of the cached response") {
        val transport = FixtureTransport { request ->
            if (request.headers["If-None-Match"] == "\"1\"") HttpResponse(304) else jsonResponse("""{"feeds": [{"name": "a", "href": "/feed"}]}""", headers = mapOf("ETag" to "\"1\""))
        }
        val client = FeedClient("http://a.example", transport = transport)
        repeat(3) { expectEqual(client.feeds().single().url, "http://a.example/feed") }
        expectEqual(transport.requests.map { it.headers["If-None-Match"] }, listOf(null, "\"1\"", "\"1\""))
        client.viewer = "other"
        client.feeds()
        expectEqual(transport.requests.last().headers["If-None-Match"], null, "another viewer")
    }

    tests.test("authorize is called once for concurrent requests, and once more after 401") {
        var calls = 0
        val transport = FixtureTransport { request -> delay(5); if (request.headers["Authorization"] == "2") jsonResponse("""{"feeds": []}""") else HttpResponse(401) }
        val client = FeedClient("http://a.example", transport = transport, authorize = { isRefresh ->
            delay(5)
            calls += 1
            expectEqual(isRefresh, calls > 1)
            mapOf("Authorization" to "$calls")
        })
        List(20) { launch { client.feeds() } }.forEach { it.join() }
        expectEqual(calls, 2)
        val refusing = FeedClient("http://a.example", transport = transport, authorize = { error("signed out") })
        expectFailure<FeedProblem.Unauthorized> { refusing.feeds() }
    }

    tests.test("a client closes its own transport, and not that of the app") {
        var isClosed = false
        val transport = object : Transport by FixtureTransport("{}") { override fun close() { isClosed = true } }
        FeedClient("http://a.example", transport = transport).close()
        expect(!isClosed) { "closed" }
        val client = FeedClient("http://127.0.0.1:1", retry = never)
        client.close()
        expectFailure<FeedProblem.Unreachable> { client.feeds() }
    }

    tests.test("only 2xx is a success: 304 to an action, and a text that is no web page, are none") {
        val transport = FixtureTransport { request ->
            when (request.url.substringAfterLast('/')) {
                "304" -> HttpResponse(304)
                "text" -> HttpResponse(200, mapOf("Content-Type" to "text/plain"), "ok".encodeToByteArray())
                else -> HttpResponse(request.url.substringAfterLast('/').toInt(), body = "<p>".encodeToByteArray())
            }
        }
        val client = FeedClient("http://a.example", transport = transport, retry = never)
        for (method in listOf("POST", "DELETE")) expectEqual(expectFailure<FeedProblem.SignInRequired> { client.submit(method, "/304", key = "k") }.status, 304)
        expectEqual(expectFailure<FeedProblem.SignInRequired> { client.get("/304") }.status, 304)
        expect(!expectFailure<FeedProblem.InvalidResponse> { client.submit("POST", "/text") }.needsSignIn) { "no page" }
        for (status in listOf(401, 403, 407, 511)) expect(expectFailure<FeedProblem.Refused> { client.get("/$status") }.needsSignIn) { "$status" }
        for (status in listOf(400, 404, 409, 500)) expect(!expectFailure<FeedProblem.Refused> { client.get("/$status") }.needsSignIn) { "$status" }
    }

    tests.test("the name of a viewer is sent as UTF-8, and cannot begin another field") {
        FaultyServer { _, _ -> respond(200, """{"feeds": []}""") }.use { server ->
            FeedClient(server.base, viewer = "Zoë 日本").use { it.feeds() }
            expectEqual(server.requests.single().headers["x-viewer-id"]?.toByteArray(Charsets.ISO_8859_1)?.decodeToString(), "Zoë 日本")
        }
        for (name in listOf("a\r\nX-Admin: 1", "a\u0000")) {
            expectFailure<IllegalArgumentException> { FeedClient("http://a.example", viewer = name) }
            expectFailure<IllegalArgumentException> { FeedClient("http://a.example").viewer = name }
        }
    }

    tests.test("a file keeps the outbox, and a damaged one is empty") {
        val folder = Files.createTempDirectory("outbox").toFile()
        val file = File(folder, "actions.json")
        val store = FileOutboxStore(file)
        expectEqual(store.read(), null)
        store.write("[1]")
        store.write("[2]")
        expectEqual(store.read(), "[2]")
        expectEqual(folder.list()?.toList(), listOf("actions.json"))
        for (text in listOf("", "{", "{}", "[{}, 7, null]", "[{\"key\": \"a\"")) {
            store.write(text)
            expectEqual(Outbox(store).entries.size, 0, text)
        }
        folder.deleteRecursively()
    }

    tests.test("measured: the visible cells of a frame are recorded in less than 0.1 ms") {
        val cells = List(10) { Impressions.VisibleCell(cell("spot:$it", "{${post("impression", "{\"events\": [{\"type\": \"impression\", \"token\": \"${"t".repeat(200)}$it\"}]}")}}"), 1.0) }
        Impressions(FeedClient("http://a.example", transport = FixtureTransport("{\"results\": []}"))).use { impressions ->
            var best = Long.MAX_VALUE
            repeat(20) {
                val start = TimeSource.Monotonic.markNow()
                repeat(500) { impressions.record(cells) }
                best = minOf(best, start.elapsedNow().inWholeNanoseconds / 500)
            }
            println("recording 10 visible cells: ${"%.3f".format(best / 1e6)} ms")
            expect(best < 100_000) { "$best ns" }
        }
    }

    tests.test("measured: the first page is decoded in at most 1.5 times the time of the tree of kotlinx-serialization") {
        val bytes = File(repository, "Conformance/page-first.json").readBytes()
        // Everything that the app can show: also the actions and the values of all parts, which are read when they are needed.
        fun page() = checkNotNull(parseJson(bytes)?.let { FeedPage.fromJson(it, "http://a.example") }).cells.sumOf { cell ->
            cell.size.height.toInt() + cell.id.length + cell.bindings.values.count { it.text != null || it.image != null } +
                cell.actions.values.count { it.kind is CellAction.Kind.Request }
        }
        fun time(work: () -> Int): Long {
            val start = TimeSource.Monotonic.markNow()
            repeat(200) { work() }
            return start.elapsedNow().inWholeMicroseconds
        }
        fun parsed() = Json.parseToJsonElement(bytes.decodeToString()).let { 1 }
        // The minimum of several runs, in turn: another process can use the processor, and the compiler of Java needs time.
        var (tree, page) = Long.MAX_VALUE to Long.MAX_VALUE
        for (round in 1..200) {
            tree = minOf(tree, time(::parsed))
            page = minOf(page, time(::page))
            if (round >= 40 && page < tree * 1.5) break
        }
        println("decoding: ${page / 200} µs, tree: ${tree / 200} µs, ratio ${"%.2f".format(page.toDouble() / tree)}")
        expect(page < tree * 1.5) { "$page µs against $tree µs" }
    }
}
