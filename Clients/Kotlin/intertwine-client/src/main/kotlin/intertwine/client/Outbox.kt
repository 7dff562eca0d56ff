package intertwine.client

import java.io.File
import java.io.FileOutputStream
import java.io.IOException
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive

/**
 * The storage of actions or impressions that wait for the server, so that they survive the end of the app's process. An app can store the text
 * where it stores its other data. The functions are called on a background thread, one at a time.
 *
 * ```kotlin
 * val actions = Actions(client, FileOutboxStore(File(context.filesDir, "actions.json")))
 * ```
 */
public interface OutboxStore {
    /** Returns the stored text; null if there is none. */
    public fun read(): String?

    /** Replaces the stored text. Throws an `IOException` if it cannot be stored. */
    public fun write(text: String)
}

/** A storage in a file, which is replaced as a whole. */
public class FileOutboxStore(private val file: File) : OutboxStore {
    override fun read(): String? = if (file.exists()) file.readText() else null

    override fun write(text: String) {
        val new = File(file.path + ".new")
        FileOutputStream(new).use {
            it.write(text.encodeToByteArray())
            // Without this, a power cut could leave an empty file under the final name.
            it.fd.sync()
        }
        if (!new.renameTo(file)) throw IOException("$file cannot be replaced.")
    }
}

/** Returns the stored list; null if there is none, or if it is damaged. */
internal fun OutboxStore.load(): JsonArray? =
    try {
        read()?.let(::parseJson).array
    } catch (_: IOException) {
        null
    }

/** Stores a list. If it cannot be stored, its entries live as long as the process. */
internal fun OutboxStore.save(list: JsonArray) {
    try {
        write(list.toString())
    } catch (_: IOException) {
        // The storage is full, or the file cannot be written.
    }
}

/** The requests for an unavailable server, in the order of the gestures. It is not thread-safe. */
internal class Outbox(private val store: OutboxStore?) {
    class Entry(
        val key: String,
        val method: String,
        val href: String,
        val body: JsonElement?,
        /** The viewer who performed the action. Requests of other viewers are not sent. */
        val viewer: String?,
        val createdAt: Long,
    )

    /** The queued requests, oldest first. A damaged storage is empty. */
    val entries: MutableList<Entry> = ArrayList(stored())

    /** Stores the requests. */
    fun save() {
        store?.save(JsonArray(entries.map(::json)))
    }

    private fun stored(): List<Entry> = store?.load().orEmpty().mapNotNull(::entry)

    private fun entry(value: JsonElement): Entry? {
        val key = value["key"].text ?: return null
        val method = value["method"].text ?: return null
        val href = value["href"].text ?: return null
        val createdAt = value["createdAt"].number?.toLong() ?: return null
        return Entry(key, method, href, value["body"]?.takeIf { it != JsonNull }, value["viewer"].text, createdAt)
    }

    private fun json(entry: Entry): JsonObject =
        JsonObject(
            mapOf(
                "key" to JsonPrimitive(entry.key), "method" to JsonPrimitive(entry.method), "href" to JsonPrimitive(entry.href),
                "body" to (entry.body ?: JsonNull), "viewer" to JsonPrimitive(entry.viewer), "createdAt" to JsonPrimitive(entry.createdAt)))

    companion object {
        const val MAX_ENTRIES = 1000
        /** The time in milliseconds for which the server remembers a key. */
        const val MAX_AGE = 24L * 3600 * 1000
    }
}
