package intertwine.client

import java.util.Locale

/** The rules for hrefs. They are texts, because `java.net.URI` refuses characters that servers send, such as braces. */
internal object Links {
    private val absolute = Regex("""[A-Za-z][A-Za-z0-9+.-]*:.*""", RegexOption.DOT_MATCHES_ALL)
    private val web = Regex("""(https?)://([^/?#]+)(.*)""", setOf(RegexOption.IGNORE_CASE, RegexOption.DOT_MATCHES_ALL))
    private const val UNRESERVED = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
    private const val DIGITS = "0123456789ABCDEF"

    /** Returns the absolute URL of an href; null if it is invalid. Without a base, a relative href stays relative. */
    fun resolve(href: String, base: String?): String? {
        // A space or a control character would end the request line.
        if (href.isEmpty() || href.any { it <= ' ' || it == '\u007f' }) return null
        if (base == null || absolute.matches(href)) return href
        val (scheme, authority, rest) = web.matchEntire(base)?.destructured ?: return null
        val path = rest.substringBefore('#').substringBefore('?')
        return when {
            href.startsWith("//") -> "$scheme:$href"
            href.startsWith("/") -> "$scheme://$authority$href"
            href.startsWith("?") -> "$scheme://$authority$path$href"
            else -> "$scheme://$authority${path.substringBeforeLast('/', "")}/$href"
        }
    }

    /** True if the URL is relative, or has the scheme http or https. */
    fun isWeb(url: String): Boolean = !absolute.matches(url) || web.matches(url)

    /** Returns scheme, host and port; null if the URL has no host or another scheme than http and https. */
    fun origin(url: String): String? {
        val (scheme, authority) = web.matchEntire(url)?.destructured ?: return null
        val lower = scheme.lowercase(Locale.ROOT)
        return "$lower://${authority.lowercase(Locale.ROOT).removeSuffix(if (lower == "https") ":443" else ":80")}"
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
}
