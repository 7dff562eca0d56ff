package intertwine.client

import kotlinx.serialization.json.JsonElement

/** A bounded cache of responses with their entity tags. Why: a repeated request then has a response of a few bytes (304). */
internal class ResponseCache {
    class Entry(val value: JsonElement, val tag: String, val language: String?, val bytes: Int)

    private val entries = LinkedHashMap<String, Entry>(16, 0.75f, true)
    private var bytes = 0

    fun response(key: String): Entry? = synchronized(entries) { entries[key] }

    fun store(key: String, entry: Entry): Unit = synchronized(entries) {
        entries.remove(key)?.let { bytes -= it.bytes }
        if (entry.bytes > MAX_BYTES / 4) return
        entries[key] = entry
        bytes += entry.bytes
        val oldest = entries.values.iterator()
        while (entries.size > MAX_RESPONSES || bytes > MAX_BYTES) {
            bytes -= oldest.next().bytes
            oldest.remove()
        }
    }

    private companion object {
        const val MAX_RESPONSES = 64
        const val MAX_BYTES = 8 shl 20
    }
}
