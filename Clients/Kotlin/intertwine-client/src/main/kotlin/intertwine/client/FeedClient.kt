package intertwine.client

import java.io.Closeable
import java.io.IOException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.BufferOverflow
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.flow.MutableSharedFlow
import kotlinx.coroutines.flow.SharedFlow
import kotlinx.coroutines.flow.asSharedFlow
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject

/**
 * A client of a server, which requests pages and sends actions. All functions can be called on the main thread.
 *
 * ```kotlin
 * val client = FeedClient("https://feeds.example.com", viewer = "ann")
 * val page = client.page(client.url())
 * val following = client.next(page)
 * ```
 *
 * @property base the base URL of the server.
 * @param viewer the name of the viewer; null for an anonymous viewer.
 * @property headers further header fields of each request to the server at [base].
 * @param authorize returns the header fields that authorize a request to the server at [base], such as `Authorization`. They are reused
 *   until the server responds with 401. Then the function is called with `isRefresh`, once for all concurrent requests, and each request
 *   is repeated once. An `IOException` of the function is [FeedProblem.Unreachable], any other exception [FeedProblem.Unauthorized].
 * @property capabilities the cells that the app supports, a result of [CellRegistry.capabilities]. If null, the server sends all cells.
 * @property languages the accepted languages, most preferred first.
 * @property viewerField the header field with the name of the viewer, `viewers.header` of the server.
 * @property retry the retries of requests that can be repeated.
 * @param transport the sender of all requests; null for a [UrlConnectionTransport], which [close] closes. The app closes its own.
 * @property maxResponseBytes the maximum number of bytes of a response that is not an image.
 */
public class FeedClient(
    public val base: String,
    viewer: String? = null,
    public val headers: Map<String, String> = emptyMap(),
    authorize: (suspend (isRefresh: Boolean) -> Map<String, String>)? = null,
    @Volatile public var capabilities: String? = null,
    @Volatile public var languages: List<String> = emptyList(),
    public val viewerField: String = "X-Viewer-ID",
    public val retry: RetryPolicy = RetryPolicy(),
    transport: Transport? = null,
    public val maxResponseBytes: Int = 16 shl 20,
) : Closeable {
    /**
     * The name of the viewer; null for an anonymous viewer. It is sent to the server at [base] only. In production, a proxy names the viewer, not
     * the app. After a change of the viewer, the capabilities or the languages, the app reloads its lists: their pages are those of the viewer
     * before. Waiting actions and impressions stay those of their viewer.
     */
    @Volatile
    public var viewer: String? = null
        set(value) {
            // A header field cannot contain these characters.
            require(value == null || value.none { it in "\r\n\u0000" }) { "The name of a viewer cannot contain line breaks or NUL." }
            field = value
        }

    init {
        this.viewer = viewer
    }

    internal var now: () -> Long = System::currentTimeMillis
    private val ownTransport = if (transport == null) UrlConnectionTransport() else null
    private val transport: Transport = transport ?: checkNotNull(ownTransport)
    private val origin = requireNotNull(Links.origin(base)) { "The base $base is not an http or https URL." }
    private val authorization = authorize?.let(::Authorization)
    private val cache = ResponseCache()
    private val signIns = MutableSharedFlow<FeedProblem>(extraBufferCapacity = 16, onBufferOverflow = BufferOverflow.DROP_OLDEST)

    /**
     * The problems that a sign-in solves: a redirect or a page of a proxy, 401, and a required viewer. After the sign-in, call
     * [Actions.sendPending] and [Impressions.flush]. A problem without a collector is lost; the failed call has thrown it, too.
     *
     * ```kotlin
     * scope.launch {
     *     client.signInRequired.collect { problem -> openLogin((problem as? FeedProblem.SignInRequired)?.location) }
     * }
     * ```
     */
    public val signInRequired: SharedFlow<FeedProblem> = signIns.asSharedFlow()

    /**
     * Returns the URL of the first page of a feed, with changes enabled.
     *
     * ```kotlin
     * client.url("home", limit = 10, layout = "table") // https://feeds.example.com/feeds/home?limit=10&changes=true&layout=table
     * ```
     *
     * @param feed the name of the feed; null for the feed `main`.
     * @param section the name of a section of the feed.
     * @param layout `collection` or `table`.
     * @param width the width of the view in points.
     * @param filters the values of filters by name, such as `mapOf("category" to listOf("music", "art"))`: the values of one filter are alternatives.
     */
    public fun url(
        feed: String? = null, section: String? = null, limit: Int = 20, layout: String? = null, width: Int? = null,
        filters: Map<String, List<String>> = emptyMap(),
    ): String {
        val path = if (feed == null && section == null) "/feed" else "/feeds/${Links.escaped(feed ?: "main")}"
        val query = listOfNotNull("limit=$limit", "changes=true", layout?.let { "layout=${Links.escaped(it)}" }, width?.let { "width=$it" }) +
            filters.entries.sortedBy { it.key }.flatMap { (name, values) -> values.map { "${Links.escaped(name)}=${Links.escaped(it)}" } }
        return absolute(path + section?.let { "/sections/${Links.escaped(it)}" }.orEmpty() + "?" + query.joinToString("&"))
    }

    /** Returns the page at a URL: a result of [url], or `next` or `previous` of another page. */
    public suspend fun page(url: String): FeedPage {
        val response = get(url)
        return FeedPage.fromJson(response.value, base, response.language) ?: throw FeedProblem.InvalidResponse("The response is not a page.")
    }

    /** Returns the page after a page; null at the end of the feed. */
    public suspend fun next(page: FeedPage): FeedPage? = page.next?.let { page(it) }

    /** Returns the page before a page; null at the start of the feed. */
    public suspend fun previous(page: FeedPage): FeedPage? = page.previous?.let { page(it) }

    /**
     * Returns the feeds of the server, ordered by name.
     *
     * ```kotlin
     * val names = client.feeds().map { it.name } // [home, main]
     * ```
     */
    public suspend fun feeds(): List<FeedSummary> {
        val feeds = get("/feeds").value["feeds"].array ?: throw FeedProblem.InvalidResponse("The response has no feeds.")
        return feeds.mapNotNull { FeedSummary.of(it, base) }
    }

    /**
     * Returns one cell by its id, for example for a deep link.
     *
     * ```kotlin
     * val name = client.cell("user:ann").bindings["username"]?.text
     * ```
     */
    public suspend fun cell(id: String): FeedCell =
        FeedCell.fromJson(get("/cells/${Links.escaped(id)}").value, base) ?: throw FeedProblem.InvalidResponse("The response is not a cell.")

    /** Returns the absolute URL of an href of the server. Throws [FeedProblem.InvalidLink] if it is not an http or https URL. */
    public fun absolute(href: String): String =
        Links.resolve(href, base)?.takeIf { Links.origin(it) != null } ?: throw FeedProblem.InvalidLink(href)

    /** Ends all connections of the default transport. An app closes its [Impressions] and its [ImageLoader] before; [FeedList] and [Actions] need no closing. */
    override fun close() {
        ownTransport?.close()
    }

    internal class Read(val value: JsonElement, val language: String?, val isFresh: Boolean)

    /** Reads JSON, with `If-None-Match` if a response of the href is cached. */
    internal suspend fun get(href: String): Read {
        val url = absolute(href)
        val key = listOf(viewer.orEmpty(), capabilities.orEmpty(), languages.joinToString(","), url).joinToString("\n")
        val cached = cache.response(key)
        val fields = mapOf("Accept" to "application/json") + cached?.let { mapOf("If-None-Match" to it.tag) }.orEmpty()
        val request = request("GET", url, fields)
        val (response, value) = exchange(request, isRepeatable = true)
        if (response.status == 304 && cached != null) return Read(cached.value, cached.language, false)
        if (value == null) throw FeedProblem.InvalidResponse("The response has no body.")
        val language = response.headers["content-language"]
        response.headers["etag"]?.let { cache.store(key, ResponseCache.Entry(value, it, language, response.body.size)) }
        return Read(value, language, true)
    }

    /**
     * Sends the request of an action, and returns its JSON; null without a body. Requests with an equal [key] are performed once. [answer] is the
     * name of the array in the response of the server: a success without it is an intermediary's, such as a gateway's `{"error": "expired"}`.
     */
    internal suspend fun submit(method: String, href: String, body: JsonElement? = null, key: String? = null, answer: String? = null): JsonElement? {
        val fields = HashMap<String, String>()
        fields["Accept"] = "application/json"
        if (body != null) fields["Content-Type"] = "application/json"
        if (key != null) fields["Idempotency-Key"] = key
        val isRepeatable = key != null || method in setOf("GET", "HEAD", "PUT", "DELETE")
        val request = request(method, absolute(href), fields, body?.toString()?.encodeToByteArray())
        return exchange(request, isRepeatable, answer.takeIf { isOfServer(request.url) }).second
    }

    /** Reads JSON with a POST, for queries that do not fit into a URL. It can be repeated without a key. */
    internal suspend fun query(href: String, body: JsonElement): JsonElement {
        val fields = mapOf("Accept" to "application/json", "Content-Type" to "application/json")
        val request = request("POST", absolute(href), fields, body.toString().encodeToByteArray())
        return exchange(request, isRepeatable = true).second ?: throw FeedProblem.InvalidResponse("The response has no body.")
    }

    /** Returns a request, with viewer, capabilities and languages for the server at [base]. Other servers get none of them. */
    internal fun request(method: String, url: String, fields: Map<String, String>, body: ByteArray? = null): HttpRequest {
        val all = HashMap<String, String>()
        if (isOfServer(url)) {
            all.putAll(headers)
            viewer?.let { all[viewerField] = it }
            capabilities?.let { all["Accept-Cells"] = it }
            if (languages.isNotEmpty()) all["Accept-Language"] = preferences(languages)
        }
        return HttpRequest(method, url, all + fields, body)
    }

    /** Sends a request whose response is JSON or empty. */
    private suspend fun exchange(request: HttpRequest, isRepeatable: Boolean, answer: String? = null): Pair<HttpResponse, JsonElement?> =
        send(request, isRepeatable, maxResponseBytes) { response ->
            // Only a request for a changed page can have this success without 2xx.
            if (response.status == 304 && "If-None-Match" in request.headers) return@send response to null
            requireSuccess(response)
            if (response.body.isEmpty() && response.status == 204) return@send response to null
            val value = if (response.isOfType("json") && !response.isOfType("problem+json")) withContext(Dispatchers.Default) { parseJson(response.body) } else null
            if (value == null && response.isWebPage) throw FeedProblem.SignInRequired(response.status, null)
            if (value !is JsonObject) throw FeedProblem.InvalidResponse("The response is no object of JSON.")
            if (answer != null && value[answer].array == null) throw FeedProblem.InvalidResponse("The response has no $answer.")
            response to value
        }

    /** Sends a request, with retries if they are safe and may help. [read] throws the problem of a response that is no success. */
    internal suspend fun <Result> send(
        request: HttpRequest,
        isRepeatable: Boolean,
        limit: Int,
        read: suspend (HttpResponse) -> Result,
    ): Result {
        var attempt = 1
        while (true) {
            val problem =
                try {
                    val response = authorized(request, { it.status }) { transport.send(it, limit) }
                    return read(response)
                } catch (error: IOException) {
                    unreachable(error)
                } catch (error: FeedProblem) {
                    error
                }
            // A page of a proxy or a network does not disappear within seconds, but one that a network sends instead of an error does.
            val delay =
                if (!isRepeatable || !problem.isRetryable || (problem as? FeedProblem.SignInRequired)?.status in 300..399) null
                else retry.delayAfter(attempt, (problem as? FeedProblem.Unavailable)?.retryAfter)
            if (delay == null) {
                if (problem.needsSignIn && isOfServer(request.url)) signIns.tryEmit(problem)
                throw problem
            }
            retry.sleep(delay)
            attempt += 1
        }
    }

    /** Throws the problem of a response that is no success. */
    internal fun requireSuccess(response: HttpResponse) {
        when (response.status) {
            in 200..299 -> return
            in 300..399 -> throw FeedProblem.SignInRequired(response.status, response.headers["location"]?.let { Links.resolve(it, base) })
            429, 502, 503, 504 -> throw FeedProblem.Unavailable(ProblemDetails.of(response), response.retryAfter(now()))
            else -> throw FeedProblem.Refused(ProblemDetails.of(response))
        }
    }

    /** Sends a request whose response is a stream, without retries. */
    internal suspend fun open(request: HttpRequest): HttpStream =
        try {
            authorized(request, { it.status }) { transport.open(it) }
        } catch (error: IOException) {
            throw unreachable(error)
        }

    /** Sends a request with the fields of `authorize`, and once more with refreshed fields if the response is 401. */
    private suspend fun <Response> authorized(
        request: HttpRequest,
        status: (Response) -> Int,
        send: suspend (HttpRequest) -> Response,
    ): Response {
        if (authorization == null || !isOfServer(request.url)) return send(request)
        val fields = authorization.fields(null)
        val response = send(request.with(fields.values))
        if (status(response) != 401) return response
        (response as? Closeable)?.close()
        return send(request.with(authorization.fields(fields).values))
    }

    private suspend fun unreachable(error: IOException): FeedProblem {
        currentCoroutineContext().ensureActive()
        if (error is BodyTooLongException) return FeedProblem.InvalidResponse("The response is too long.")
        return FeedProblem.Unreachable(error.message ?: error.javaClass.simpleName, error)
    }

    private fun isOfServer(url: String) = Links.origin(url) == origin

    internal companion object {
        /** Returns a list in the format of `Accept` and `Accept-Language`, most preferred first. */
        fun preferences(values: List<String>): String =
            values.take(9).mapIndexed { index, value -> if (index == 0) value else "$value;q=0.${10 - index}" }.joinToString(", ")
    }
}

/** True for a web page, which is no response of the service. Some login pages have no media type, or that of the request. */
internal val HttpResponse.isWebPage: Boolean
    get() {
        if (isOfType("html") || isOfType("xhtml+xml")) return true
        // White space and a byte order mark, whose bytes are negative, can precede the first tag.
        val first = body.indexOfFirst { it > ' '.code }
        return first >= 0 && body[first] == '<'.code.toByte()
    }

/** True if the media type of the response has a subtype, such as `json` for `application/problem+json`. */
internal fun HttpResponse.isOfType(subtype: String): Boolean =
    headers["content-type"]?.substringBefore(';')?.trim()?.lowercase()?.let { it.endsWith("/$subtype") || it.endsWith("+$subtype") } == true
