// Stubs of the members of OkHttp that the example of a transport uses.
package okhttp3

import java.io.Closeable
import java.io.IOException
import okio.BufferedSource

class OkHttpClient {
    fun newBuilder(): Builder = Builder()

    fun newCall(request: Request): Call = throw UnsupportedOperationException("$request")

    class Builder {
        fun followRedirects(followRedirects: Boolean): Builder = apply { check(!followRedirects) }

        fun build(): OkHttpClient = OkHttpClient()
    }
}

class Request private constructor() {
    class Builder {
        fun url(url: String): Builder = apply { check(url.isNotEmpty()) }

        fun method(method: String, body: RequestBody?): Builder = apply { check(method.isNotEmpty() || body != null) }

        fun headers(headers: Headers): Builder = apply { check(headers.any()) }

        fun build(): Request = Request()
    }
}

abstract class RequestBody {
    companion object {
        fun ByteArray.toRequestBody(): RequestBody = object : RequestBody() { override fun toString() = "$size" }
    }
}

interface Call {
    fun enqueue(responseCallback: Callback)

    fun cancel()
}

interface Callback {
    fun onFailure(call: Call, e: IOException)

    fun onResponse(call: Call, response: Response)
}

class Headers private constructor(private val fields: Map<String, String>) : Iterable<Pair<String, String>> {
    override fun iterator(): Iterator<Pair<String, String>> = fields.toList().iterator()

    companion object {
        fun Map<String, String>.toHeaders(): Headers = Headers(this)
    }
}

interface Response : Closeable {
    val code: Int
    val headers: Headers
    val body: ResponseBody
}

interface ResponseBody {
    fun source(): BufferedSource
}
