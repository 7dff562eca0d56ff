package intertwine.client

import java.io.File
import kotlin.system.exitProcess
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlin.time.TimeSource
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject

/** The tests, by name in the order of their registration. */
class Tests {
    class Test(val name: String, val limit: Duration, val run: suspend CoroutineScope.() -> Unit)

    val all = ArrayList<Test>()

    fun test(name: String, limit: Duration = 30.seconds, run: suspend CoroutineScope.() -> Unit) {
        all.add(Test(name, limit, run))
    }
}

fun expect(condition: Boolean, message: () -> String) {
    if (!condition) throw AssertionError(message())
}

fun <Value> expectEqual(actual: Value, expected: Value, message: String = "") {
    expect(actual == expected) { "$message: $actual, expected $expected" }
}

/** Returns the problem that the work throws. */
suspend inline fun <reified Problem : Throwable> expectFailure(work: suspend () -> Unit): Problem {
    try {
        work()
    } catch (error: Throwable) {
        if (error is Problem) return error
        throw AssertionError("another failure than ${Problem::class.simpleName}", error)
    }
    throw AssertionError("no ${Problem::class.simpleName}")
}

/** Waits until a condition holds. */
suspend fun eventually(message: String, limit: Duration = 20.seconds, condition: suspend () -> Boolean) {
    val start = TimeSource.Monotonic.markNow()
    while (!condition()) {
        expect(start.elapsedNow() < limit) { "not within $limit: $message" }
        delay(10)
    }
}

/** A retry policy that records its delays instead of waiting. */
class Delays {
    val all: MutableList<Duration> = java.util.Collections.synchronizedList(ArrayList())

    fun policy(maxAttempts: Int = 4) = RetryPolicy(maxAttempts, 0.5.seconds, 30.seconds, { 1.0 }, { all.add(it); delay(1) })
}

val never = RetryPolicy(maxAttempts = 1)
val repository = File(System.getenv("INTERTWINE_REPOSITORY"))
val isLong = System.getenv("TEST_ALL") == "1"
val seed = System.getenv("SEED")?.toInt() ?: 13

fun json(text: String): JsonElement = checkNotNull(parseJson(text)) { text }

fun jsonResponse(text: String, status: Int = 200, headers: Map<String, String> = emptyMap()) =
    HttpResponse(status, mapOf("Content-Type" to "application/json") + headers, text.encodeToByteArray())

fun cell(id: String, actions: String = "{}") = checkNotNull(FeedCell.fromJson(json("""{"id": "$id", "actions": $actions}"""), "http://example.com"))

fun post(slot: String, body: String = "null") = """"$slot": {"type": "request", "method": "POST", "href": "/$slot", "body": $body}"""

fun main(arguments: Array<String>) {
    if (arguments.firstOrNull() == "--outbox") return outboxProcess(arguments[1], File(arguments[2]), arguments[3].toInt())
    val tests = Tests()
    unitTests(tests)
    conformanceTests(tests)
    actionTests(tests)
    impressionTests(tests)
    imageTests(tests)
    faultTests(tests)
    leakTests(tests)
    modelTests(tests)
    // Measurements need a quiet machine, so that they run by name only.
    val selected = tests.all.filter { test -> if (arguments.isEmpty()) !test.name.startsWith("measured:") else arguments.any { it in test.name } }
    var failed = 0
    for (test in selected) {
        val start = TimeSource.Monotonic.markNow()
        try {
            runBlocking { withTimeout(test.limit) { test.run(this) } }
        } catch (error: Throwable) {
            failed += 1
            println("FAILED ${test.name}")
            error.printStackTrace(System.out)
        }
        val time = start.elapsedNow()
        if (time > 1.seconds) println("${test.name}: $time")
    }
    println("${selected.size} tests, $failed failed")
    exitProcess(if (failed == 0 && selected.isNotEmpty()) 0 else 1)
}
