package intertwine.client

import java.util.Locale

/** The rules for hrefs. They are texts, because `java.net.URI` refuses characters that servers send, such as braces. */
internal object Links {
    private const val UNRESERVED = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    private const val DIGITS = "0123456789ABCDEF"

    /** Returns the absolute URL of an href; null if it is invalid. Without a base, a relative href stays relative. */
    fun resolve(href: String, base: String?): String? {
        // A space or a control character would end the request line.
        if (href.isEmpty() || href.any { it <= ' ' || it == '\u007f' }) return null
        if (base == null || schemeLength(href) >= 0) return href
        val pathStart = authorityEnd(base)
        if (pathStart < 0) return null
        if (href.startsWith("//")) return base.substring(0, schemeLength(base) + 1) + href
        if (href.startsWith("/")) return base.substring(0, pathStart) + href
        val path = base.substring(pathStart).substringBefore('#').substringBefore('?')
        return base.substring(0, pathStart) + if (href.startsWith("?")) path + href else path.substringBeforeLast('/', "") + "/" + href
    }

    /** True if the URL is relative, or has the scheme http or https. */
    fun isWeb(url: String): Boolean = schemeLength(url) < 0 || authorityEnd(url) >= 0

    /** Returns scheme, host and port; null if the URL has no host or another scheme than http and https. */
    fun origin(url: String): String? {
        val end = authorityEnd(url)
        if (end < 0) return null
        val origin = url.substring(0, end).lowercase(Locale.ROOT)
        return origin.removeSuffix(if (origin.startsWith("https:")) ":443" else ":80")
    }

    /** Percent-encodes all characters that are not unreserved (RFC 3986). */
    fun escaped(text: String): String {
        val escaped = StringBuilder()
        for (byte in text.encodeToByteArray()) {
            val character = byte.toInt().toChar()
            if (byte >= 0 && character in UNRESERVED) {
                escaped.append(character)
            } else {
                escaped.append('%').append(DIGITS[(byte.toInt() shr 4) and 15]).append(DIGITS[byte.toInt() and 15])
            }
        }
        return escaped.toString()
    }

    /** Returns the length of the scheme; -1 if the URL is relative. */
    private fun schemeLength(url: String): Int {
        val end = url.indexOfFirst { !it.isLetterOrDigit() && it !in "+-." }
        return if (end > 0 && url[end] == ':' && url[0].isLetter()) end else -1
    }

    /** Returns the index after the host and the port; -1 if the URL has none, or another scheme than http and https. */
    private fun authorityEnd(url: String): Int {
        val start = if (url.startsWith("http://", true)) 7 else if (url.startsWith("https://", true)) 8 else return -1
        val end = url.indexOfAny(charArrayOf('/', '?', '#'), start).let { if (it < 0) url.length else it }
        return if (end > start) end else -1
    }
}
