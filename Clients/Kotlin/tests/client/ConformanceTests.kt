package intertwine.client

import java.io.File
import java.io.IOException
import java.util.Collections
import kotlin.time.Duration.Companion.seconds
import kotlin.time.DurationUnit
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

private val functions =
    mapOf(
        "cells" to ::cells, "sizes" to ::sizes, "actions" to ::actions, "bindings" to ::bindings, "invocations" to ::invocations,
        "changes" to ::changes, "problems" to ::problems, "sign-in" to ::signIn, "advertisements" to ::advertisements, "event-stream" to ::eventStream)

/** All cases of `Conformance/cases`. */
fun conformanceTests(tests: Tests) {
    val files = checkNotNull(File(repository, "Conformance/cases").listFiles { file -> file.extension == "json" })
    tests.test("conformance: every function has a file") {
        expectEqual(functions.keys - files.mapTo(HashSet()) { it.nameWithoutExtension }, emptySet(), "files are missing")
    }
    for (file in files.sorted()) {
        val function = functions[file.nameWithoutExtension] ?: continue
        for (case in json(file.readText())["cases"].array.orEmpty()) {
            tests.test("conformance: ${file.nameWithoutExtension}: ${case["name"].text}") {
                expectSame(function(checkNotNull(case["given"])), case["expect"] ?: JsonNull)
            }
        }
    }
}

/** Compares two values; numbers by their value. */
private fun expectSame(actual: JsonElement, expected: JsonElement) = expectEqual(normal(actual), normal(expected))

private fun normal(value: JsonElement): Any? =
    when (value) {
        is JsonObject -> value.mapValues { normal(it.value) }
        is JsonArray -> value.map(::normal)
        is JsonPrimitive -> if (value == JsonNull) null else value.number ?: value.boolean ?: value.content
    }

private fun text(value: String?): JsonElement = JsonPrimitive(value)

private fun objectOf(vararg members: Pair<String, JsonElement?>) = JsonObject(members.mapNotNull { (name, value) -> value?.let { name to it } }.toMap())

private suspend fun cells(given: JsonElement): JsonElement {
    val registry = CellRegistry<Any>()
    for (identifier in given["registered"].array.orEmpty()) registry.register(identifier.text.orEmpty(), make = { Any() }) { _, _ -> }
    registry.registerFallback(make = { Any() }) { _, _ -> }
    val page = checkNotNull(given["page"]?.let { FeedPage.fromJson(it) })
    val sections = FeedSection.of(page.cells.mapIndexed { index, cell -> ListEntry(index.toLong(), cell) })
    // The name of each cell's section, in the order of the list.
    val names = sections.flatMap { section -> List(section.rows.size + if (section.header == null) 0 else 1) { section.name } }
    val cells = page.cells.mapIndexed { index, cell ->
        objectOf(
            "id" to text(cell.id), "identifier" to text(cell.identifier), "shownAs" to text(registry.identifier(cell)),
            "size" to objectOf("width" to JsonPrimitive(cell.size.width), "height" to JsonPrimitive(cell.size.height)),
            "section" to text(names[index]))
    }
    return objectOf("cells" to JsonArray(cells), "next" to text(page.next), "isFollowed" to JsonPrimitive(page.syncToken != null))
}

private suspend fun sizes(given: JsonElement): JsonElement {
    val size = CellSize.of(given["size"])
    val scale = checkNotNull(given["textScale"].number)
    return objectOf("width" to JsonPrimitive(size.width), "height" to JsonPrimitive(size.height(scale.toFloat())))
}

private suspend fun actions(given: JsonElement): JsonElement {
    val action = given["cell"]?.let { FeedCell.fromJson(it) }?.actions?.get(CellSlot(given["slot"].text.orEmpty()))
    val values = given["values"].members.orEmpty().mapValues { it.value.text.orEmpty() }
    return when (val kind = action?.kind) {
        is CellAction.Kind.Bind -> objectOf("bind" to JsonObject(kind.bindings.mapValues { it.value.members }))
        is CellAction.Kind.Link -> objectOf("link" to objectOf("href" to text(kind.url)))
        is CellAction.Kind.Request ->
            objectOf(
                "request" to
                    objectOf(
                        "method" to text(kind.method), "href" to text(action.href(values)), "hasKey" to JsonPrimitive(Actions.needsKey(kind.method)),
                        "body" to kind.body))
        is CellAction.Kind.Other, null -> JsonNull
    }
}

private suspend fun bindings(given: JsonElement): JsonElement {
    val binding = (given["binding"] as? JsonObject)?.let { CellBinding(it, null) } ?: return JsonNull
    val time = binding.dateMillis?.let { java.time.Instant.ofEpochMilli(it).toString() }
    val value =
        binding.text?.let(::JsonPrimitive) ?: binding.number?.let(::JsonPrimitive) ?: binding.image?.let(::JsonPrimitive)
            ?: binding.link?.let(::JsonPrimitive) ?: binding.media?.let(::JsonPrimitive)
            ?: time?.let { JsonPrimitive(if (binding.isDay) it.take(10) else it) } ?: return JsonNull
    return objectOf("type" to text(binding.type), "value" to value)
}

private suspend fun invocations(given: JsonElement): JsonElement {
    val body = given["response"] ?: JsonNull
    val transport = FixtureTransport { if (body == JsonNull) HttpResponse(204) else jsonResponse(body.toString()) }
    val client = FeedClient("http://example.com", retry = never, transport = transport)
    val performed = Actions(client).perform(CellSlot.Selection, cell("user:a", "{${post("selection")}}")) as Invocation.Performed
    val undo = performed.undo?.let {
        val expiresAt = it.expiresAtMillis?.let { time -> java.time.Instant.ofEpochMilli(time).toString() }
        objectOf("method" to text(it.request?.method), "href" to text(it.request?.href), "expiresAt" to text(expiresAt))
    }
    // A relative href is resolved with the base, which the suite does not know.
    val open = performed.open?.removePrefix("http://example.com")
    return objectOf(
        "id" to text(performed.id), "slot" to text(performed.slot?.name), "commands" to JsonArray(performed.commands.map { it.members }),
        "presentation" to (performed.presentation ?: JsonNull), "open" to text(open), "undo" to (undo ?: JsonNull))
}

private suspend fun changes(given: JsonElement): JsonElement {
    val state = FeedListState("/feed")
    val cells = given["list"].array.orEmpty().map { objectOf("id" to it) }
    val page = objectOf("cells" to JsonArray(cells), "page" to objectOf("syncToken" to text("A")))
    state.append(checkNotNull(FeedPage.fromJson(page)))
    val before = FeedSection.of(state.entries)
    val window = checkNotNull(state.window(0..0, 100))
    val changes = checkNotNull(given["response"]?.let { FeedChanges.of(it, null) }).changes
    if (changes == null || !state.apply(changes, window)) {
        expectEqual(FeedSection.of(state.entries), before, "a reload changes nothing")
        return objectOf("reload" to JsonPrimitive(true))
    }
    val update = FeedUpdate.between(before, FeedSection.of(state.entries))
    return objectOf("list" to JsonArray(state.entries.map { text(it.cell.id) }), "update" to described(update))
}

private fun described(update: FeedUpdate): JsonElement {
    fun path(path: IndexPath) = JsonArray(listOf(JsonPrimitive(path.section), JsonPrimitive(path.item)))
    fun indices(list: List<Int>) = JsonArray(list.map(::JsonPrimitive))
    return objectOf(
        "sectionsRemoved" to indices(update.sectionDeletions), "sectionsInserted" to indices(update.sectionInsertions),
        "sectionsReconfigured" to indices(update.sectionReconfigurations), "removed" to JsonArray(update.deletions.map(::path)),
        "inserted" to JsonArray(update.insertions.map(::path)),
        "moved" to JsonArray(update.moves.map { objectOf("from" to path(it.from), "to" to path(it.to)) }),
        "reconfigured" to JsonArray(update.reconfigurations.map(::path)))
}

/** The response of a case; null for none. */
private fun response(given: JsonElement): HttpResponse? {
    val response = given["response"] as? JsonObject ?: return null
    val headers = response["headers"].members.orEmpty().mapValues { it.value.text.orEmpty() }
    // A browser hides the status of a redirect.
    val status = if (response["type"].text == "opaqueredirect") 303 else checkNotNull(response["status"].index)
    return HttpResponse(status, headers, response["body"].text.orEmpty().encodeToByteArray())
}

private suspend fun problems(given: JsonElement): JsonElement {
    val response = response(given)
    val transport = FixtureTransport { response ?: throw IOException("no response") }
    val client = FeedClient("http://example.com", retry = Delays().policy(maxAttempts = 2), transport = transport)
    given["now"].text?.let(Dates::milliseconds)?.let { now -> client.now = { now } }
    val method = checkNotNull(given["request"]["method"].text)
    try {
        client.submit(method, "/x", key = if (given["request"]["hasKey"].boolean == true) "k" else null)
    } catch (problem: FeedProblem) {
        val details =
            when {
                problem is FeedProblem.Refused -> problem.details
                problem is FeedProblem.SignInRequired && problem.status >= 300 -> ProblemDetails.of(problem.status, null)
                else -> {
                    expect(problem.isRetryable) { "$problem" }
                    val retryAfter = (problem as? FeedProblem.Unavailable)?.retryAfter?.toDouble(DurationUnit.SECONDS)
                    return objectOf(
                        "outcome" to text("unavailable"), "isRetried" to JsonPrimitive(transport.requests.size == 2),
                        "retryAfter" to JsonPrimitive(retryAfter))
                }
            }
        expectEqual(transport.requests.size, 1, "a refused request is sent once")
        val errors = details.errors.map { error ->
            objectOf(
                "code" to text(error.code), "parameter" to error.parameter?.let(::JsonPrimitive), "pointer" to error.pointer?.let(::JsonPrimitive),
                "detail" to error.detail?.let(::JsonPrimitive))
        }
        return objectOf(
            "outcome" to text("refused"), "status" to JsonPrimitive(details.status), "type" to text(details.type), "title" to text(details.title),
            "detail" to text(details.detail), "instance" to text(details.instance), "errors" to JsonArray(errors))
    }
    return objectOf("outcome" to text("ok"), "status" to JsonPrimitive(response?.status))
}

private suspend fun signIn(given: JsonElement): JsonElement = coroutineScope {
    val response = response(given)
    val signIns = Collections.synchronizedList(ArrayList<FeedProblem>())
    /** Returns a client whose first request has the response, and whose later ones succeed. */
    fun client(): Pair<FeedClient, FixtureTransport> {
        var count = 0
        val transport = FixtureTransport { if (count++ > 0) HttpResponse(204) else response ?: throw IOException("no response") }
        return FeedClient("http://example.com", retry = Delays().policy(maxAttempts = 1), transport = transport) to transport
    }
    val dismissing = client().first
    val (reporting, transport) = client()
    val collecting = listOf(dismissing, reporting).map { launch(start = CoroutineStart.UNDISPATCHED) { it.signInRequired.collect(signIns::add) } }
    var isHidden = false
    val actions = Actions(dismissing)
    val change = OptimisticChange(apply = { isHidden = true }, revert = { isHidden = false })
    val action =
        try {
            val performed = actions.perform(CellSlot.Dismissal, cell("user:a", "{${post("dismissal")}}"), change)
            if (performed is Invocation.Queued) "queued" else "performed"
        } catch (_: FeedProblem) {
            "reverted"
        }
    expectEqual(isHidden, action != "reverted")
    expectEqual(actions.pendingCount.value, if (action == "queued") 1 else 0)
    Impressions(reporting, batchDelay = 0.seconds).use { impressions ->
        val seen = cell("spot:1", "{\"impression\": {\"type\": \"request\", \"method\": \"POST\", \"href\": \"/e\", \"body\": {\"events\": [1]}, \"viewable\": {\"seconds\": 0}}}")
        impressions.record(listOf(Impressions.VisibleCell(seen, 1.0)))
        eventually("all impressions are sent or dropped") { impressions.pendingCount == 0 }
    }
    // Both requests report it.
    eventually("the reports of a sign-in") { signIns.size != 1 }
    collecting.forEach { it.cancel() }
    val outcome = if (transport.requests.size > 1) "kept" else if (action == "performed") "sent" else "dropped"
    objectOf("signInRequired" to JsonPrimitive(signIns.size == 2), "action" to text(action), "impressions" to text(outcome))
}

private suspend fun advertisements(given: JsonElement): JsonElement {
    val cell = checkNotNull(given["cell"]?.let { FeedCell.fromJson(it) })
    return objectOf(
        "isAdvertisement" to JsonPrimitive(cell.isAdvertisement), "label" to text(cell.disclosure?.label), "advertiser" to text(cell.disclosure?.advertiser))
}

private suspend fun eventStream(given: JsonElement): JsonElement {
    val parser = EventStreamParser()
    val events = given["chunks"].array.orEmpty().flatMap { parser.receive(it.text.orEmpty().encodeToByteArray()) }
    return objectOf(
        "events" to JsonArray(events.map { objectOf("id" to text(it.id), "event" to text(it.name), "data" to text(it.data)) }),
        "lastEventId" to text(parser.lastId), "retry" to JsonPrimitive(parser.retry?.inWholeMilliseconds))
}
