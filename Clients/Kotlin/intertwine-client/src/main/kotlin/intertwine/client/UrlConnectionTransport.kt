package intertwine.client

import java.io.IOException
import java.io.InputStream
import java.net.HttpURLConnection
import java.net.URL
import java.util.Locale
import kotlin.coroutines.EmptyCoroutineContext
import kotlin.coroutines.resumeWithException
import kotlin.time.Duration
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.suspendCancellableCoroutine

/**
 * The default transport, which uses `HttpURLConnection` and works on Android and on the JVM.
 *
 * ```kotlin
 * val client = FeedClient("https://feeds.example.com", transport = UrlConnectionTransport(readTimeout = 60.seconds))
 * ```
 *
 * A cancelled coroutine continues at once. Android then closes the connection at once. The JVM does so as well, except within a body: there
 * the connection closes with the next bytes, which for live updates are at most 15 seconds away, or after [readTimeout]. The JVM does not
 * support the method `PATCH`.
 *
 * @property connectTimeout the maximum time for connecting.
 * @property readTimeout the maximum time without received bytes. Why the default: a live stream has bytes every 15 seconds.
 * @param dispatcher the threads that wait for the network. Why the default: streams wait for hours, and must not take the threads of the
 *   app's other work.
 */
public class UrlConnectionTransport(
    public val connectTimeout: Duration = 15.seconds,
    public val readTimeout: Duration = 40.seconds,
    private val dispatcher: CoroutineDispatcher = Dispatchers.IO.limitedParallelism(256),
) : Transport {
    private val exchanges = HashSet<Exchange>()
    private var isClosed = false

    override suspend fun send(request: HttpRequest, limit: Int): HttpResponse {
        val exchange = begin(request)
        return exchange.run {
            try {
                val (status, headers) = head()
                val body = readAll(limit)
                val length = headers["content-length"]?.toLongOrNull()
                if (length != null && body.size < length && status !in BODILESS && request.method != "HEAD") throw IOException("The body is cut.")
                HttpResponse(status, headers, body)
            } catch (error: IOException) {
                disconnect()
                throw error
            } finally {
                end(this)
            }
        }
    }

    override suspend fun open(request: HttpRequest): HttpStream {
        // A decoder of gzip could hold events back.
        val exchange = begin(request.with(mapOf("Accept-Encoding" to "identity")))
        val (status, headers) =
            exchange.run {
                try {
                    head()
                } catch (error: IOException) {
                    disconnect()
                    end(this)
                    throw error
                }
            }
        val chunks = flow {
            try {
                while (true) emit(exchange.run { read() } ?: break)
            } finally {
                end(exchange)
                dispatcher.dispatch(EmptyCoroutineContext) { exchange.disconnect() }
            }
        }
        return HttpStream(status, headers, chunks) {
            end(exchange)
            dispatcher.dispatch(EmptyCoroutineContext) { exchange.disconnect() }
        }
    }

    /** Closes all connections. Later requests fail. */
    override fun close() {
        val open = synchronized(exchanges) { isClosed = true; exchanges.toList().also { exchanges.clear() } }
        for (exchange in open) dispatcher.dispatch(EmptyCoroutineContext) { exchange.disconnect() }
    }

    private fun begin(request: HttpRequest): Exchange {
        val connection = URL(request.url).openConnection() as? HttpURLConnection ?: throw IOException("The scheme of ${request.url} is not supported.")
        val exchange = Exchange(request, connection)
        synchronized(exchanges) {
            if (isClosed) throw IOException("The transport is closed.")
            exchanges.add(exchange)
        }
        return exchange
    }

    private fun end(exchange: Exchange) {
        synchronized(exchanges) { exchanges.remove(exchange) }
    }

    private inner class Exchange(private val request: HttpRequest, private val connection: HttpURLConnection) {
        @Volatile private var isDisconnected = false
        private var body: InputStream? = null
        private val buffer = ByteArray(16 * 1024)

        /** Runs blocking work on a thread of the dispatcher. A cancellation disconnects, so that the work ends too. */
        suspend fun <Result> run(work: Exchange.() -> Result): Result = suspendCancellableCoroutine { continuation ->
            continuation.invokeOnCancellation {
                isDisconnected = true
                end(this)
                // On another thread, because it blocks while a body is read on the JVM.
                dispatcher.dispatch(EmptyCoroutineContext) { connection.disconnect() }
            }
            dispatcher.dispatch(EmptyCoroutineContext) {
                val result = runCatching { work() }
                result.onSuccess { value -> continuation.resume(value) { _, _, _ -> disconnect() } }
                result.onFailure { error -> continuation.resumeWithException(error) }
            }
        }

        fun disconnect() {
            isDisconnected = true
            connection.disconnect()
        }

        /** Sends the request, and returns the status and the header fields. */
        fun head(): Pair<Int, Map<String, String>> {
            connection.requestMethod = request.method
            connection.connectTimeout = connectTimeout.inWholeMilliseconds.toInt()
            connection.readTimeout = readTimeout.inWholeMilliseconds.toInt()
            connection.instanceFollowRedirects = false
            connection.useCaches = false
            for ((name, value) in request.headers) connection.setRequestProperty(name, value)
            connection.doOutput = request.body != null
            checkConnected()
            connection.connect()
            // A cancellation before this line found no socket to close.
            checkConnected()
            request.body?.let { bytes -> connection.outputStream.use { it.write(bytes) } }
            // The JVM has only stored the body, and connects again for a response if the connection was closed meanwhile.
            checkConnected()
            val status = connection.responseCode
            if (status < 0) throw IOException("The response is not HTTP.")
            body = if (status >= 400) connection.errorStream else connection.inputStream
            val headers = HashMap<String, String>()
            for ((name, values) in connection.headerFields) if (name != null) headers[name.lowercase(Locale.ROOT)] = values.joinToString(", ")
            return status to headers
        }

        /** Returns the next part of the body; null at its end. */
        fun read(): ByteArray? {
            checkConnected()
            val count = body?.read(buffer) ?: -1
            return if (count < 0) null else buffer.copyOf(count)
        }

        fun readAll(limit: Int): ByteArray {
            var bytes = ByteArray(0)
            var count = 0
            while (true) {
                val read = body?.read(buffer) ?: -1
                if (read < 0) break
                if (read > limit - count) throw BodyTooLongException()
                if (count + read > bytes.size) bytes = bytes.copyOf(maxOf(2 * bytes.size, count + read))
                buffer.copyInto(bytes, count, 0, read)
                count += read
            }
            body?.close()
            return if (count == bytes.size) bytes else bytes.copyOf(count)
        }

        private fun checkConnected() {
            if (!isDisconnected) return
            connection.disconnect()
            throw IOException("The connection is closed.")
        }
    }

    private companion object {
        val BODILESS = setOf(204, 304)
    }
}
