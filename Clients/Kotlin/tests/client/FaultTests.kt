package intertwine.client

import java.io.File
import java.nio.file.Files
import kotlin.random.Random
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking

private const val FEEDS = """{"feeds": [{"name": "main", "href": "/feed"}]}"""

/** Tests of the default transport with servers that fail. */
fun faultTests(tests: Tests) {
    tests.test("faults: missing, dropped, reset, cut and false responses are retried, and the next one counts") {
        val faults = listOf<FaultyServer.Connection.() -> Unit>(
            {}, { reset() }, { send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"feeds\"") },
            { send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{\"fe") },
            { send("HTTP/1.1 200 OK\r\nContent-Type: appl"); reset() }, { send("SSH-2.0-x\r\n\r\n") },
            { respond(200, "{\"feeds\": [") }, { respond(200, "feeds") }, { respond(502) }, { respond(504) },
            { respond(200, "<h1>Welcome to our network</h1>", type = "text/html") })
        for ((index, fault) in faults.withIndex()) {
            var gets = 0
            FaultyServer { request, _ ->
                // Java repeats a request itself if a connection has no response.
                if (gets++ < 2 && (index > 1 || request.method == "GET")) fault() else respond(200, FEEDS)
            }.use { server ->
                val client = FeedClient(server.base, retry = Delays().policy())
                expectEqual(client.feeds().map { it.name }, listOf("main"), "fault $index")
            }
        }
        val problem = expectFailure<FeedProblem.Unreachable> { FeedClient("http://127.0.0.1:1", retry = Delays().policy()).feeds() }
        expect(problem.isRetryable) { "$problem" }
    }

    tests.test("faults: a cut image is no image") {
        FaultyServer { _, number ->
            if (number == 0) send("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 8\r\nConnection: close\r\n\r\nhalf")
            else respond(200, "complete", "image/png")
        }.use { server ->
            val cell = cell("user:a", """{"configuration": {"type": "bind", "bindings": {"i": {"type": "image", "href": "${server.base}/i"}}}}""")
            ImageLoader(FeedClient(server.base, retry = Delays().policy())).use { loader ->
                val images = ArrayList<CellImage>()
                loader.images(cell, 1f).collect(images::add)
                expectEqual((images.last() as CellImage.Loaded).bytes.decodeToString(), "complete")
            }
            expectEqual(server.requests.size, 2)
        }
    }

    tests.test("faults: 302 to a login page is not followed, retried or performed") {
        FaultyServer { request, _ ->
            if (request.target == "/login") respond(200, FEEDS) else respond(302, "", "text/html", "Location: /login")
        }.use { server ->
            val client = FeedClient(server.base, viewer = "me")
            val problem = expectFailure<FeedProblem.SignInRequired> { client.feeds() }
            expectEqual(problem.status to problem.location, 302 to server.base + "/login")
            expectFailure<FeedProblem.SignInRequired> { client.submit("POST", "/x", key = "k") }
            expectEqual(server.requests.map { it.target }, listOf("/feeds", "/x"))
        }
    }

    tests.test("faults: 401 is refreshed once, 429 and 503 wait as requested") {
        val statuses = listOf(503, 429, 401, 401, 200)
        FaultyServer { _, number ->
            val status = statuses.getOrElse(number) { 200 }
            respond(status, if (status == 200) FEEDS else "{}", "application/json", if (status == 429) "Retry-After: 7" else "X-A: b")
        }.use { server ->
            val delays = Delays()
            var tokens = 0
            val client = FeedClient(server.base, retry = delays.policy(), authorize = { mapOf("Authorization" to "t${++tokens}") })
            val problem = expectFailure<FeedProblem.Refused> { client.feeds() }
            expectEqual(problem.details.status, 401)
            expectEqual(delays.all, listOf(0.5.seconds, 7.seconds))
            expectEqual(server.requests.map { it.headers["authorization"] }, listOf("t1", "t1", "t1", "t2"))
            expectEqual(client.feeds().size, 1)
        }
        FaultyServer { _, _ -> respond(503, "", "application/json", "Retry-After: 3600") }.use { server ->
            val problem = expectFailure<FeedProblem.Unavailable> { FeedClient(server.base).feeds() }
            expectEqual(problem.retryAfter, 3600.seconds, "longer than the maximum: no retry")
            expectEqual(server.requests.size, 1)
        }
    }

    tests.test("faults: a clock that is set back changes neither delays nor impressions") {
        val headers = mapOf("Date" to "Fri, 02 Jan 2026 03:04:05 GMT", "Retry-After" to "Fri, 02 Jan 2026 03:04:15 GMT")
        for (now in listOf(0L, 4_000_000_000_000)) expectEqual(HttpResponse(503, headers).retryAfter(now), 10.seconds)
        // The time of an impression is that of a monotonic clock, which the default is.
        val client = FeedClient("http://a.example", transport = FixtureTransport { HttpResponse(204) })
        client.now = { 0 }
        val ad = cell("ad:1", """{"impression": {"type": "request", "method": "POST", "href": "/e", "body": {"events": [1]}, "viewable": {"seconds": 0.05}}}""")
        Impressions(client).use { impressions ->
            impressions.record(listOf(Impressions.VisibleCell(ad, 1.0)))
            eventually("the impression, without a further call") { impressions.pendingCount == 1 }
        }
    }

    tests.test("faults: a body that is too long, and one that never ends") {
        FaultyServer { request, _ ->
            if ("long" in request.target) respond(200, "[" + "1,".repeat(5000) + "1]")
            else {
                send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
                while (true) send("400\r\n" + "x".repeat(1024) + "\r\n")
            }
        }.use { server ->
            val client = FeedClient(server.base, retry = never, maxResponseBytes = 5000)
            for (target in listOf("/long", "/endless")) expectFailure<FeedProblem.InvalidResponse> { client.get(target) }
            eventually("the connections end") { server.openConnections == 0 }
        }
    }

    tests.test("faults: a server that stalls ends by the timeout, and one that drips does not") {
        FaultyServer { request, _ ->
            if ("stall" in request.target) awaitClose()
            else {
                send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${FEEDS.length}\r\n\r\n")
                for (character in FEEDS) { Thread.sleep(20); send("$character") }
            }
        }.use { server ->
            val transport = UrlConnectionTransport(readTimeout = 300.milliseconds)
            val client = FeedClient(server.base, retry = never, transport = transport)
            expectFailure<FeedProblem.Unreachable> { client.get("/stall") }
            expectEqual(client.feeds().size, 1)
        }
    }

    tests.test("faults: the stream ends, breaks, and is a page of a network; Last-Event-ID continues it") {
        val page = """{"cells": [{"id": "user:a"}], "page": {"syncToken": "T0"}}"""
        fun event(number: Int) = "id: T$number\nevent: changes\ndata: {\"reload\": false, \"removed\": [], \"moved\": [], \"reconfigured\": [], \"inserted\": " +
            "[{\"index\": 0, \"cell\": {\"id\": \"user:$number\"}}], \"pages\": [{\"count\": ${number + 1}, \"syncToken\": \"T$number\"}], \"page\": {}}\n\n"
        var streams = 0
        FaultyServer { request, _ ->
            if ("/changes" !in request.target) return@FaultyServer respond(200, page)
            if ("event-stream" !in request.headers.getValue("accept")) {
                return@FaultyServer respond(200, """{"reload": false, "removed": [], "moved": [], "reconfigured": [], "inserted": [], "pages":
                    [{"count": ${request.target.substringAfter("=T").toInt() + 1}, "syncToken": "${request.target.substringAfter('=')}"}], "page": {}}""")
            }
            val head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            fun chunk(text: String) = send("${text.encodeToByteArray().size.toString(16)}\r\n$text\r\n")
            when (++streams) {
                1 -> { send(head); chunk("retry: 1\n\n" + event(1)); send("0\r\n\r\n") }
                2 -> { send(head); chunk(event(2)); chunk(event(3).take(30)); reset() }
                3 -> respond(200, "<h1>Welcome</h1>", "text/html")
                4 -> respond(503, "", "application/json", "Retry-After: 1")
                // A proxy that passes no events on: the list is polled.
                5 -> { send(head); send("0\r\n\r\n") }
                else -> { send(head); chunk(event(3)); awaitClose() }
            }
        }.use { server ->
            val list = FeedList(FeedClient(server.base, retry = Delays().policy()))
            val collecting = launch { list.updates(interval = 20.milliseconds).collect {} }
            eventually("three events") { list.sections.sumOf { it.rows.size } == 4 }
            collecting.cancelAndJoin()
            val ids = server.requests.filter { "event-stream" in it.headers["accept"].orEmpty() }.map { it.headers["last-event-id"] }
            expectEqual(ids, listOf(null, "T1", "T2", "T2", "T2", "T2"))
            expect(server.requests.takeLast(2).any { "event-stream" !in it.headers.getValue("accept") }) { "a poll after the empty stream" }
        }
    }

    val count = if (isLong) Outbox.MAX_ENTRIES else 100
    tests.test("faults: $count waiting actions outlive two killed processes, and are sent in order, with one key each", limit = 3.minutes) {
        val file = File(Files.createTempDirectory("outbox").toFile(), "actions.json")
        fun process(base: String): Process {
            val command = listOf(ProcessHandle.current().info().command().get(), "-cp", System.getProperty("java.class.path"), "intertwine.client.HarnessKt")
            return ProcessBuilder(command + listOf("--outbox", base, "$file", "$count")).redirectError(ProcessBuilder.Redirect.INHERIT).start()
        }
        // Nothing listens at this port. The process is killed when its outbox is full.
        val filling = process("http://127.0.0.1:1")
        expectEqual(filling.inputStream.bufferedReader().readLine(), "waiting: $count")
        filling.destroyForcibly().waitFor()
        FaultyServer { _, _ -> Thread.sleep(5); respond(200, "{\"commands\": []}") }.use { server ->
            val sending = process(server.base)
            eventually("a third is sent") { server.requests.size > count / 3 }
            sending.destroyForcibly().waitFor()
            val before = server.requests.size
            expect(before < count) { "killed too late" }
            val actions = Actions(FeedClient(server.base), FileOutboxStore(file))
            expect(actions.sendPending()) { "sent" }
            val keys = server.requests.map { it.headers["idempotency-key"] }
            expectEqual(keys.distinct(), (0 until count).map { "k$it" })
            expect(keys.size - count <= 17) { "${keys.size - count} actions were sent again" }
            expectEqual(file.readText(), "[]")
        }
    }

    val minute = if (isLong) 60.seconds else 3.seconds
    tests.test("faults: offline for $minute", limit = 3.minutes) {
        val page = """{"cells": [{"id": "user:a", "actions": {${post("dismissal")}, ${post("impression", """{"events": [{"token": "t"}]}""")}}}], "page": {}}"""
        val respond: FaultyServer.Connection.(FaultyServer.Request, Int) -> Unit = { request, _ ->
            if (request.method == "GET") respond(200, page) else respond(200, """{"commands": [], "results": []}""")
        }
        val first = FaultyServer(respond = respond)
        val client = FeedClient(first.base, retry = RetryPolicy(maxAttempts = 2, initialDelay = 100.milliseconds, maxDelay = 1.seconds))
        val list = FeedList(client)
        val collecting = launch { list.updates(FeedList.SyncMode.Polling, interval = 200.milliseconds).collect {} }
        eventually("the first page") { list.pageCount == 1 }
        first.close()
        val start = TimeSource.Monotonic.markNow()
        val actions = Actions(client)
        val cell = list.sections[0].cells[0]
        val queued = actions.perform(CellSlot.Dismissal, cell, OptimisticChange.hiding(cell, list))
        expect(queued is Invocation.Queued) { "$queued" }
        Impressions(client).use { impressions ->
            impressions.record(listOf(Impressions.VisibleCell(cell, 1.0)))
            eventually("an impression") { impressions.pendingCount == 1 }
            while (start.elapsedNow() < minute) delay(100)
            expectEqual(actions.sendPending(), false)
            expect(collecting.isActive) { "the list goes on" }
            FaultyServer(first.port, respond).use { second ->
                expect(actions.sendPending()) { "sent" }
                eventually("the impression is sent by itself") { impressions.pendingCount == 0 }
                eventually("the list asks again") { second.requests.any { it.method == "GET" } }
                val posts = second.requests.filter { it.method == "POST" }
                expectEqual(posts.map { it.target }.sorted(), listOf("/dismissal", "/impression"))
            }
        }
        collecting.cancelAndJoin()
    }
}

/** Another process with an outbox: it adds actions, if there are none, sends what it can, and waits for its end. */
fun outboxProcess(base: String, file: File, count: Int): Unit = runBlocking {
    val actions = Actions(FeedClient(base, retry = never), FileOutboxStore(file))
    actions.sendPending()
    if (!file.exists()) repeat(count) { actions.perform(CellSlot.Dismissal, cell("user:a", "{${post("dismissal")}}"), key = "k$it") }
    println("waiting: ${actions.pendingCount.value}")
    awaitCancellation()
}

/** Tests that nothing is left behind. */
fun leakTests(tests: Tests) {
    /** The threads that are in the code of the transport. */
    fun busyThreads() = Thread.getAllStackTraces().values.count { stack -> stack.any { it.className.startsWith("intertwine.client.UrlConnectionTransport") } }

    tests.test("leaks: 200 seeded cancellations leak no thread or connection", limit = 2.minutes) {
        val random = Random(seed)
        val page = """{"cells": [{"id": "user:a", "actions": {${post("selection")}}}], "page": {"syncToken": "A"}}"""
        // Where the server stands still for a second: before the head, in the body, in a stream. A heartbeat follows, as of the service.
        FaultyServer { request, number ->
            val pause = random.nextInt(60).toLong()
            val isStream = "event-stream" in request.headers["accept"].orEmpty()
            when {
                isStream -> {
                    send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
                    while (true) { send("3\r\n:\n\n\r\n"); Thread.sleep(1000) }
                }
                number % 3 == 0 -> { Thread.sleep(pause); respond(200, page) }
                number % 3 == 1 -> {
                    send("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${page.length}\r\n\r\n" + page.take(20))
                    Thread.sleep(pause)
                    send(page.drop(20))
                }
                else -> awaitClose()
            }
        }.use { server ->
            val client = FeedClient(server.base, transport = UrlConnectionTransport(readTimeout = 15.seconds))
            val list = FeedList(client)
            val images = ImageLoader(client)
            val actions = Actions(client)
            val cell = cell("user:a", """{${post("selection")}, "configuration": {"type": "bind", "bindings": {"i": {"type": "image", "href": "/i"}}}}""")
            val ends = ArrayList<Job>()
            var late = 0
            repeat(200) { index ->
                val job = launch {
                    try {
                        when (index % 4) {
                            0 -> client.page(client.url())
                            1 -> FeedList(client).updates.collect {}
                            2 -> actions.perform(CellSlot.Selection, cell)
                            else -> images.images(cell, 1f).collect {}
                        }
                    } catch (_: FeedProblem) {
                        // A response came before the cancellation.
                    }
                }
                delay(random.nextInt(40).milliseconds)
                val start = TimeSource.Monotonic.markNow()
                job.cancelAndJoin()
                if (start.elapsedNow() > 500.milliseconds) late += 1
                ends.add(job)
            }
            expectEqual(late, 0, "a cancelled coroutine ends at once")
            images.close()
            expectEqual(list.pageCount, 0)
            // The JVM closes a connection within a body with the next bytes, idle ones after five seconds, and one that it has opened again
            // for a response, because the former was closed, after the timeout.
            eventually("${server.openConnections} connections, ${busyThreads()} threads", 30.seconds) { server.openConnections == 0 && busyThreads() == 0 }
            client.close()
        }
    }

    tests.test("leaks: 100 requests with large bodies that are cancelled before they are sent end their connections", limit = 1.minutes) {
        val random = Random(seed)
        val body = ByteArray(4 shl 20)
        FaultyServer { _, _ -> awaitClose() }.use { server ->
            UrlConnectionTransport(readTimeout = 15.seconds).use { transport ->
                repeat(100) {
                    val job = launch(Dispatchers.Default) { transport.send(HttpRequest("POST", server.base, body = body), 100) }
                    delay(random.nextInt(12).milliseconds)
                    job.cancelAndJoin()
                }
                eventually("${server.openConnections} connections", 10.seconds) { server.openConnections <= 10 }
                // The JVM opens a few again for a response, because the former was closed, and ends them after the timeout.
                eventually("${server.openConnections} connections, ${busyThreads()} threads", 30.seconds) { server.openConnections == 0 && busyThreads() == 0 }
            }
        }
    }

    tests.test("leaks: nothing goes on after close") {
        FaultyServer { _, _ -> awaitClose() }.use { server ->
            val client = FeedClient(server.base, retry = never)
            val jobs = List(10) { launch { expectFailure<FeedProblem.Unreachable> { client.feeds() } } }
            eventually("ten requests") { server.requests.size == 10 }
            client.close()
            jobs.forEach { it.join() }
            eventually("no connection and no thread") { server.openConnections == 0 && busyThreads() == 0 }
        }
    }
}
