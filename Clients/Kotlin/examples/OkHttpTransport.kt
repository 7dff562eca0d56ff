import intertwine.client.BodyTooLongException
import intertwine.client.HttpRequest
import intertwine.client.HttpResponse
import intertwine.client.HttpStream
import intertwine.client.Transport
import java.io.IOException
import kotlin.coroutines.resumeWithException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.awaitClose
import kotlinx.coroutines.flow.callbackFlow
import kotlinx.coroutines.launch
import kotlinx.coroutines.suspendCancellableCoroutine
import okhttp3.Call
import okhttp3.Callback
import okhttp3.Headers.Companion.toHeaders
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import okhttp3.Response
import okio.BufferedSource

/** A transport with the app's OkHttp client. A read timeout above 15 seconds keeps live streams open. */
class OkHttpTransport(client: OkHttpClient) : Transport {
    private val client = client.newBuilder().followRedirects(false).build()

    override suspend fun send(request: HttpRequest, limit: Int): HttpResponse = await(request) { _, response ->
        if (response.body.source().request(limit + 1L)) throw BodyTooLongException().also { response.close() }
        response.use { HttpResponse(it.code, it.headers.toMap(), it.body.source().readByteArray()) }
    }

    override suspend fun open(request: HttpRequest): HttpStream = await(request) { call, response ->
        val head = HttpResponse(response.code, response.headers.toMap())
        // A blocked read ends with the call.
        val chunks = callbackFlow {
            launch(Dispatchers.IO) { close(runCatching { while (true) send(response.body.source().part() ?: break) }.exceptionOrNull()) }
            awaitClose { call.cancel() }
        }
        HttpStream(head.status, head.headers, chunks) { call.cancel() }
    }

    override fun close() {}

    private suspend fun <Result> await(request: HttpRequest, read: (Call, Response) -> Result): Result = suspendCancellableCoroutine { continuation ->
        val body = request.body ?: ByteArray(0).takeIf { request.method in setOf("POST", "PUT", "PATCH") }
        val head = Request.Builder().url(request.url).headers(request.headers.toHeaders())
        val call = client.newCall(head.method(request.method, body?.toRequestBody()).build())
        continuation.invokeOnCancellation { call.cancel() }
        call.enqueue(object : Callback {
            override fun onFailure(call: Call, e: IOException) = continuation.resumeWithException(e)

            override fun onResponse(call: Call, response: Response) = continuation.resumeWith(runCatching { read(call, response) })
        })
    }
}

/** Returns the next bytes; null at the end. */
private fun BufferedSource.part(): ByteArray? = ByteArray(16 * 1024).let { buffer -> read(buffer).takeIf { it >= 0 }?.let(buffer::copyOf) }
