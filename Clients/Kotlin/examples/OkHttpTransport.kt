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
import okhttp3.OkHttpClient
import okhttp3.Request
import okhttp3.RequestBody.Companion.toRequestBody
import okhttp3.Response

/** A transport with the app's OkHttp client. A read timeout above 15 seconds keeps live streams open. */
class OkHttpTransport(client: OkHttpClient) : Transport {
    private val client = client.newBuilder().followRedirects(false).build()

    override suspend fun send(request: HttpRequest, limit: Int): HttpResponse = await(call(request)) { response ->
        response.use {
            if (it.body.source().request(limit + 1L)) throw BodyTooLongException()
            HttpResponse(it.code, it.headers.toMap(), it.body.source().readByteArray())
        }
    }

    override suspend fun open(request: HttpRequest): HttpStream {
        val call = call(request)
        val response = await(call) { it }
        val chunks = callbackFlow {
            launch(Dispatchers.IO) {
                val buffer = ByteArray(16 * 1024)
                val failure = runCatching {
                    while (true) response.body.source().read(buffer).let { if (it < 0) return@runCatching else send(buffer.copyOf(it)) }
                }
                close(failure.exceptionOrNull())
            }
            awaitClose { call.cancel() }
        }
        return HttpStream(response.code, HttpResponse(response.code, response.headers.toMap()).headers, chunks) { call.cancel() }
    }

    override fun close() {}

    private fun call(request: HttpRequest): Call {
        val body = request.body ?: ByteArray(0).takeIf { request.method in setOf("POST", "PUT", "PATCH") }
        val builder = Request.Builder().url(request.url).method(request.method, body?.toRequestBody())
        for ((name, value) in request.headers) builder.header(name, value)
        return client.newCall(builder.build())
    }

    /** Reads a response on a thread of OkHttp. A cancellation of the coroutine ends the call. */
    private suspend fun <Result> await(call: Call, read: (Response) -> Result): Result = suspendCancellableCoroutine { continuation ->
        continuation.invokeOnCancellation { call.cancel() }
        call.enqueue(
            object : Callback {
                override fun onFailure(call: Call, e: IOException) = continuation.resumeWithException(e)

                override fun onResponse(call: Call, response: Response) = continuation.resumeWith(runCatching { read(response) })
            })
    }
}
