package intertwine.client

import java.util.Collections
import kotlinx.coroutines.flow.flowOf

/**
 * A transport that responds without a server, for previews and tests.
 *
 * ```kotlin
 * val transport = FixtureTransport("""{"cells": [{"id": "user:ann", "identifier": "UserTableViewCell"}], "page": {}}""")
 * val client = FeedClient("https://preview.invalid", transport = transport)
 * ```
 *
 * @param respond returns the response to each request, or throws an `IOException` if the connection fails.
 */
public class FixtureTransport(private val respond: suspend (HttpRequest) -> HttpResponse) : Transport {
    private val received = Collections.synchronizedList(ArrayList<HttpRequest>())

    /** Creates a transport with one page, as JSON. Actions succeed without content, and all other requests are 404. */
    public constructor(page: String) : this({ request ->
        val path = request.url.substringBefore('?')
        when {
            request.method != "GET" -> HttpResponse(204)
            !path.endsWith("/feed") && "/feeds/" !in path || path.endsWith("/changes") -> HttpResponse(404)
            else -> HttpResponse(200, mapOf("Content-Type" to "application/json"), page.encodeToByteArray())
        }
    })

    /** The received requests, in order. */
    public val requests: List<HttpRequest> get() = synchronized(received) { received.toList() }

    override suspend fun send(request: HttpRequest, limit: Int): HttpResponse {
        received.add(request)
        val response = respond(request)
        if (response.body.size > limit) throw BodyTooLongException()
        return response
    }

    override suspend fun open(request: HttpRequest): HttpStream {
        val response = send(request, Int.MAX_VALUE)
        return HttpStream(response.status, response.headers, flowOf(response.body))
    }

    override fun close() {}
}
