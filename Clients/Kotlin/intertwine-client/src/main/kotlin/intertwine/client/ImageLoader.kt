package intertwine.client

import java.io.Closeable
import java.util.UUID
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.launch

/**
 * The image of a part of a cell, or what is shown instead.
 *
 * @property part the name of the part.
 */
public sealed class CellImage(public val part: String) {
    /** Shown until the image is loaded. [color] is ARGB. */
    public class Placeholder internal constructor(part: String, public val color: Int?, public val thumbHash: ThumbHash?) : CellImage(part)

    /** The bytes of the image as the server sent them, for example for `BitmapFactory`. [type] is the media type. */
    public class Loaded internal constructor(part: String, public val bytes: ByteArray, public val type: String) : CellImage(part)

    /** The image cannot be loaded. */
    public class Failed internal constructor(part: String, public val problem: FeedProblem) : CellImage(part)
}

/** The priority of an image; visible images are loaded first. */
public enum class ImagePriority {
    /** Its cell becomes visible soon. */
    Prefetched,
    /** Its cell is visible. */
    Visible,
}

/**
 * A loader of the images of cells, usually one for the whole app. Requests of one image are one, and visible images are loaded first. An app
 * with a loader of its own, such as Coil, takes the URL of [CellBinding.image] instead.
 *
 * ```kotlin
 * val loader = ImageLoader(client)
 * loader.images(cell, scale = 2f).collect { image ->
 *     if (image is CellImage.Loaded) show(BitmapFactory.decodeByteArray(image.bytes, 0, image.bytes.size))
 * }
 * ```
 *
 * If the collecting coroutine is cancelled, because its view is reused, a request without other waiters is cancelled too. A queued one is never
 * sent. For a sent one, the connection is closed, and the cell's `cancellation` is performed so that the server stops.
 *
 * @param maxConcurrentRequests the maximum number of concurrent requests.
 * @param maxBytes the maximum number of bytes of cached images.
 * @param maxImageBytes the maximum number of bytes of one image.
 * @param formats the image formats that the app supports, most preferred first. The defaults are those of Android 7; Android 12 also decodes `image/avif`.
 */
public class ImageLoader(
    private val client: FeedClient,
    private val maxConcurrentRequests: Int = 4,
    private val maxBytes: Int = 32 shl 20,
    private val maxImageBytes: Int = 16 shl 20,
    private val formats: List<String> = listOf("image/webp", "image/png", "image/jpeg", "image/gif"),
) : Closeable {
    private class Image(val bytes: ByteArray, val type: String)

    private class Download(val url: String, val number: Int, val cancellation: CellAction?, var priority: ImagePriority) {
        /** The id of the request, for its cancellation. */
        val id = UUID.randomUUID().toString()
        val result = CompletableDeferred<Image>()
        var waiters = 0
        var job: Job? = null
    }

    private val scope = CoroutineScope(SupervisorJob() + Dispatchers.Default)
    private val cache = LinkedHashMap<String, Image>(16, 0.75f, true)
    private var cachedBytes = 0
    private val downloads = LinkedHashMap<String, Download>()
    private var count = 0

    /**
     * Returns the images of a cell: for each part the placeholder first, then the image or the problem.
     *
     * @param scale the number of pixels per point.
     * @param part the name of one part; null for all parts with an image.
     */
    public fun images(
        cell: FeedCell,
        scale: Float,
        part: String? = null,
        priority: ImagePriority = ImagePriority.Visible,
    ): Flow<CellImage> = channelFlow {
        val parts = cell.bindings.filter { (name, binding) -> (part == null || name == part) && binding.image != null }
        for ((name, binding) in parts) {
            val url = binding.image(scale) ?: continue
            cached(url)?.let { return@let send(CellImage.Loaded(name, it.bytes, it.type)) } ?: launch {
                val hash = binding.thumbHash
                if (binding.color != null || hash != null) send(CellImage.Placeholder(name, binding.color, hash))
                send(
                    try {
                        load(url, cell, priority).let { CellImage.Loaded(name, it.bytes, it.type) }
                    } catch (problem: FeedProblem) {
                        CellImage.Failed(name, problem)
                    })
            }
        }
    }

    /** Loads the images of cells that become visible soon into the cache, after all visible ones. Cancel its coroutine to stop. */
    public suspend fun prefetch(cells: List<FeedCell>, scale: Float) {
        for (cell in cells) images(cell, scale, priority = ImagePriority.Prefetched).collect {}
    }

    /** Clears the cache, for example in `onTrimMemory`. */
    public fun clear(): Unit = synchronized(downloads) {
        cache.clear()
        cachedBytes = 0
    }

    /** Cancels all requests, and clears the cache. */
    override fun close() {
        scope.cancel()
        clear()
    }

    private fun cached(url: String): Image? = synchronized(downloads) { cache[url] }

    private suspend fun load(url: String, cell: FeedCell, priority: ImagePriority): Image {
        val download =
            synchronized(downloads) {
                cache[url]?.let { return it }
                val download = downloads.getOrPut(url) { Download(url, ++count, cell.actions[CellSlot.Cancellation], priority) }
                download.priority = maxOf(download.priority, priority)
                download.waiters += 1
                startNext()
                download
            }
        try {
            return download.result.await()
        } finally {
            leave(download)
        }
    }

    private fun leave(download: Download) {
        val cancellation =
            synchronized(downloads) {
                download.waiters -= 1
                if (download.waiters > 0 || download.result.isCompleted || downloads[download.url] !== download) return
                downloads.remove(download.url)
                download.job?.cancel() ?: return
                download.cancellation ?: return
            }
        val request = cancellation.kind as? CellAction.Kind.Request ?: return
        val href = cancellation.href(mapOf("request" to download.id)) ?: return
        scope.launch {
            try {
                client.submit(request.method, href, request.body)
            } catch (_: FeedProblem) {
                // The image may be complete, or the server may have seen the closed connection.
            }
        }
    }

    /** Starts queued requests, highest priority and then oldest first, up to the limit. */
    private fun startNext() {
        while (downloads.values.count { it.job != null } < maxConcurrentRequests) {
            val next = downloads.values.filter { it.job == null }.maxWithOrNull(compareBy({ it.priority }, { -it.number })) ?: return
            // Started after the job is known: a job that ended before would stay in the list.
            next.job = scope.launch(start = CoroutineStart.LAZY) { run(next) }.also { it.invokeOnCompletion { end(next) } }
            next.job?.start()
        }
    }

    private fun end(download: Download): Unit = synchronized(downloads) {
        if (downloads[download.url] === download) downloads.remove(download.url)
        download.result.cancel()
        startNext()
    }

    private suspend fun run(download: Download) {
        try {
            val fields = mapOf("Accept" to FeedClient.preferences(formats), "X-Request-ID" to download.id)
            val request = client.request("GET", client.absolute(download.url), fields)
            val image =
                client.send(request, isRepeatable = true, limit = maxImageBytes) { response ->
                    client.requireSuccess(response)
                    val type = response.headers["content-type"].orEmpty()
                    if (!type.startsWith("image/")) throw FeedProblem.InvalidResponse("The response is not an image.")
                    Image(response.body, type)
                }
            synchronized(downloads) { store(download.url, image) }
            download.result.complete(image)
        } catch (problem: FeedProblem) {
            download.result.completeExceptionally(problem)
        }
    }

    private fun store(url: String, image: Image) {
        if (image.bytes.size > maxBytes / 4) return
        cache.put(url, image)?.let { cachedBytes -= it.bytes.size }
        cachedBytes += image.bytes.size
        val oldest = cache.values.iterator()
        while (cachedBytes > maxBytes) {
            cachedBytes -= oldest.next().bytes.size
            oldest.remove()
        }
    }
}
