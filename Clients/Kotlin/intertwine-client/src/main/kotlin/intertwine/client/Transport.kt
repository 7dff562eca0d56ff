package intertwine.client

import java.io.Closeable
import java.io.IOException
import java.util.Locale
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.flow.Flow

/**
 * A request.
 *
 * @property method the method, such as `GET`.
 * @property url the absolute URL.
 * @property headers the header fields by name.
 * @property body the body; null for none.
 */
public class HttpRequest(
    public val method: String,
    public val url: String,
    public val headers: Map<String, String> = emptyMap(),
    public val body: ByteArray? = null,
) {
    /** The method and the URL, without header fields and body, which can contain secrets. */
    override fun toString(): String = "$method $url"

    internal fun with(fields: Map<String, String>): HttpRequest = HttpRequest(method, url, headers + fields, body)
}

/**
 * A complete response.
 *
 * @property status the HTTP status.
 * @property body the body; empty for none.
 */
public class HttpResponse(public val status: Int, headers: Map<String, String> = emptyMap(), public val body: ByteArray = ByteArray(0)) {
    /** The header fields by name in lower case. */
    public val headers: Map<String, String> = headers.mapKeys { it.key.lowercase(Locale.ROOT) }

    override fun toString(): String = "$status, ${body.size} bytes"

    /** Returns the delay that the server requests (RFC 9110, section 10.2.3), as a number of seconds or as a date. */
    internal fun retryAfter(now: Long): Duration? {
        val field = headers["retry-after"]?.trim() ?: return null
        field.toLongOrNull()?.let { return maxOf(0, it).seconds }
        // The clock of a device can be wrong. The difference to the clock of the server is exact.
        val sentAt = headers["date"]?.let(Dates::httpMilliseconds) ?: now
        return Dates.httpMilliseconds(field)?.let { maxOf(0, it - sentAt).milliseconds }
    }
}

/**
 * A response whose body is still being received.
 *
 * @property status the HTTP status.
 * @property headers the header fields by name in lower case.
 * @property chunks the parts of the body; it can be collected once. [close] ends it.
 */
public class HttpStream(
    public val status: Int,
    public val headers: Map<String, String>,
    public val chunks: Flow<ByteArray>,
    private val onClose: () -> Unit = {},
) : Closeable {
    /** Closes the connection. */
    override fun close(): Unit = onClose()
}

/**
 * A sender of requests. Redirects are responses and are not followed. If the coroutine is cancelled, the connection of its request is closed.
 *
 * The functions are called on any thread, also on the main thread: an implementation blocks its own threads only. [UrlConnectionTransport] is the default. An app with another HTTP library implements this interface; the folder `examples` of the library has
 * a transport with OkHttp:
 *
 * ```kotlin
 * class OfflineTransport : Transport {
 *     override suspend fun send(request: HttpRequest, limit: Int): HttpResponse = throw IOException("offline")
 *     override suspend fun open(request: HttpRequest): HttpStream = throw IOException("offline")
 *     override fun close() {}
 * }
 * ```
 */
public interface Transport : Closeable {
    /**
     * Sends a request and returns the complete response. Throws [BodyTooLongException] if the body has more than [limit] bytes, and
     * another `IOException` if the connection fails.
     */
    public suspend fun send(request: HttpRequest, limit: Int): HttpResponse

    /** Sends a request and returns the response after its head, with the body as a stream. The caller closes it. */
    public suspend fun open(request: HttpRequest): HttpStream
}

/** The body of a response exceeds the limit of the request. */
public class BodyTooLongException : IOException("The body is too long.")
