package intertwine.client

import java.text.ParseException
import java.text.SimpleDateFormat
import java.util.Locale
import java.util.TimeZone

/** The formats of dates. Android has `java.time` since version 26 only. */
internal object Dates {
    private val pattern =
        Regex("""(\d{4})-(\d\d)-(\d\d)(?:[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d))?""")

    /** Parses a time or a day (RFC 3339), and returns milliseconds since 1970; null if the text is neither. */
    fun milliseconds(text: String): Long? {
        val groups = pattern.matchEntire(text)?.groupValues ?: return null
        val (year, month, day) = groups.subList(1, 4).map { it.toInt() }
        if (month !in 1..12 || day !in 1..daysOf(year, month)) return null
        val midnight = daysSince1970(year, month, day) * 86_400_000
        if (groups[8].isEmpty()) return midnight
        val (hours, minutes, seconds) = groups.subList(4, 7).map { it.toInt() }
        if (hours > 23 || minutes > 59 || seconds > 60) return null
        val fraction = groups[7].padEnd(3, '0').take(3).toLong()
        val zone = groups[8].uppercase(Locale.ROOT)
        val offset = if (zone == "Z") 0 else (if (zone[0] == '-') -1 else 1) * (zone.substring(1, 3).toInt() * 60 + zone.substring(4, 6).toInt())
        return midnight + ((hours * 60L + minutes - offset) * 60 + seconds) * 1000 + fraction
    }

    /** Parses a date of HTTP (RFC 9110), such as `Fri, 02 Jan 2026 03:04:35 GMT`. */
    fun httpMilliseconds(text: String): Long? {
        val format = SimpleDateFormat("EEE, dd MMM yyyy HH:mm:ss zzz", Locale.US)
        format.timeZone = TimeZone.getTimeZone("GMT")
        return try {
            format.parse(text)?.time
        } catch (_: ParseException) {
            null
        }
    }

    private fun isLeap(year: Int) = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)

    private fun daysOf(year: Int, month: Int) =
        when (month) {
            2 -> if (isLeap(year)) 29 else 28
            4, 6, 9, 11 -> 30
            else -> 31
        }

    private fun daysSince1970(year: Int, month: Int, day: Int): Long {
        val before = year - 1L
        val leapDays = before / 4 - before / 100 + before / 400 - 477
        val dayOfYear = (1 until month).sumOf { daysOf(year, it) } + day - 1
        return (year - 1970) * 365L + leapDays + dayOfYear
    }
}
