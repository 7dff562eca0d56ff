package intertwine.client

import java.io.ByteArrayOutputStream
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds

/** A parser of server-sent events from received bytes. */
internal class EventStreamParser {
    data class Event(val name: String, val data: String, val id: String)

    private val line = ByteArrayOutputStream()
    private var name = ""
    private val data = ArrayList<String>()
    private var length = 0
    private var endedWithReturn = false
    private var isFirstLine = true

    /** The id of the last event. */
    var lastId: String = ""
        private set

    /** The delay before a reconnection, as the server requests it. */
    var retry: Duration? = null
        private set

    /** Returns the events that end within these bytes. Throws [BodyTooLongException] if an event exceeds the maximum length. */
    fun receive(bytes: ByteArray): List<Event> {
        val events = ArrayList<Event>()
        for (byte in bytes) {
            val isFeed = byte == FEED
            if (isFeed && endedWithReturn) {
                endedWithReturn = false
                continue
            }
            endedWithReturn = byte == RETURN
            if (isFeed || endedWithReturn) {
                endLine()?.let(events::add)
            } else {
                line.write(byte.toInt())
                if (line.size() + length > MAX_EVENT_BYTES) throw BodyTooLongException()
            }
        }
        return events
    }

    private fun endLine(): Event? {
        var text = line.toByteArray().decodeToString()
        val bytes = line.size()
        line.reset()
        if (isFirstLine) text = text.removePrefix("\uFEFF")
        isFirstLine = false
        if (text.isEmpty()) return endEvent()
        val value = text.substringAfter(':', "").removePrefix(" ")
        when (text.substringBefore(':')) {
            "event" -> name = value
            "data" -> {
                data.add(value)
                length += bytes
            }
            "id" -> if ('\u0000' !in value) lastId = value
            "retry" -> if (value.isNotEmpty() && value.all { it in '0'..'9' }) value.toLongOrNull()?.let { retry = it.milliseconds }
        }
        return null
    }

    private fun endEvent(): Event? {
        val event = if (data.isEmpty()) null else Event(name.ifEmpty { "message" }, data.joinToString("\n"), lastId)
        name = ""
        data.clear()
        length = 0
        return event
    }

    private companion object {
        const val FEED: Byte = 10
        const val RETURN: Byte = 13
        const val MAX_EVENT_BYTES = 4 shl 20
    }
}
