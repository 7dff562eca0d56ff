package intertwine.tests

import intertwine.client.FeedClient
import intertwine.client.FeedList
import intertwine.client.FixtureTransport
import intertwine.client.HttpRequest
import intertwine.client.HttpResponse
import intertwine.client.RetryPolicy
import intertwine.ui.FeedModel
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelChildren
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import kotlin.time.Duration.Companion.seconds

/** Runs tests of views. The thread of `runBlocking` is the main thread. */
object Harness {
    private var count = 0
    private var failures = 0

    fun test(name: String, body: suspend CoroutineScope.() -> Unit) {
        count += 1
        try {
            runBlocking {
                withTimeout(20.seconds) {
                    body()
                    coroutineContext.cancelChildren()
                }
            }
        } catch (error: Throwable) {
            failures += 1
            println("FAILED: $name")
            error.printStackTrace(System.out)
        }
    }

    fun end() {
        println("${count - failures} passed, $failures failed")
        if (count == 0 || failures > 0) System.exit(1)
        System.exit(0)
    }
}

fun <T> expectEqual(actual: T, expected: T, about: String = "") {
    if (actual != expected) throw AssertionError("$about: $actual, expected $expected")
}

fun expect(condition: Boolean, about: String) {
    if (!condition) throw AssertionError(about)
}

/** Waits until a condition is true, and all collectors of the state have seen it; the time limit of the test applies. */
suspend fun until(condition: () -> Boolean) {
    while (!condition()) delay(2)
    // A collector that resumes another one needs a second turn of the thread.
    repeat(3) { yield() }
}

private const val REQUEST = """{"type": "request", "method": "POST", "href": "/%s/%s"}"""

/** Returns a cell as JSON. */
fun cell(
    id: String, identifier: String = "TextCell", text: String = id, slots: List<String> = listOf("selection", "dismissal"), size: String = """{"width": 300, "height": 100}""",
    bindings: String = "", more: String = "",
): String {
    val actions = slots.joinToString("") { ", \"$it\": " + REQUEST.format(id, it) }
    return """{"id": "$id", "identifier": "$identifier", "size": $size, "actions": {"configuration": {"type": "bind", "bindings":
        {"text": {"type": "text", "text": "$text"}$bindings}}$actions$more}}"""
}

val adCell = cell(
    "ad:1", "AdCell", slots = emptyList(),
    bindings = """, "disclosure": {"type": "disclosure", "label": "Sponsored", "advertiser": "Lamps"}, "photo": {"type": "image", "href": "/images/1", "alt": "A lamp",
        "color": "#102030"}""",
    more = """, "impression": {"type": "request", "method": "POST", "href": "/events", "body": {"events": [{"type": "impression", "cell": "ad:1", "token": "t"}]},
        "viewable": {"share": 0.5, "seconds": 0}}""")

fun page(vararg cells: String, next: String? = null): String =
    """{"cells": [${cells.joinToString()}], "page": {"next": ${next?.let { "\"$it\"" }}, "syncToken": "A"}}"""

fun json(text: String, status: Int = 200) = HttpResponse(status, mapOf("Content-Type" to "application/json"), text.encodeToByteArray())

/** A service whose pages and responses tests set. */
class Service(vararg cells: String) {
    var pages = mapOf("/feed" to page(*cells))
    var respond: suspend (HttpRequest) -> HttpResponse? = { null }
    val transport = FixtureTransport { request ->
        val path = request.url.removePrefix("http://example.com").substringBefore('?')
        respond(request) ?: pages[path]?.let(::json) ?: HttpResponse(if (request.method == "GET") 404 else 204)
    }
    val client = FeedClient("http://example.com", retry = RetryPolicy(maxAttempts = 1), transport = transport)

    fun paths(method: String): List<String> = transport.requests.filter { it.method == method }.map { it.url.removePrefix("http://example.com") }

    fun model(scope: CoroutineScope): FeedModel = FeedModel(client, scope, FeedList(client), mode = FeedList.SyncMode.Manual)
}
