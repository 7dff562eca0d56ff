package intertwine.client

import kotlinx.serialization.json.JsonObject

/**
 * The value for a part of a cell. Each property is null for another type of binding, so that an unknown type shows nothing.
 *
 * ```kotlin
 * label.text = cell.bindings["username"]?.text
 * val url = cell.bindings["avatar"]?.image(scale = resources.displayMetrics.density)
 * ```
 *
 * @property members all members, including those that this library does not know.
 */
public class CellBinding internal constructor(public val members: JsonObject, private val base: String?) {
    /** The type, such as `text`; null if the server sends none. */
    public val type: String? get() = members["type"].text

    /** The text in the requested language. */
    public val text: String? get() = if (type == "text") members["text"].text else null

    /** The number, which the app formats. */
    public val number: Double? get() = if (type == "number") members["number"].number else null

    /** The time in milliseconds since 1970. A day is its start in UTC; see [isDay]. */
    public val dateMillis: Long? get() = if (type == "date") members["date"].text?.let(Dates::milliseconds) else null

    /** True if [dateMillis] is a day without a time. The app formats it in UTC. */
    public val isDay: Boolean get() = dateMillis != null && members["date"].text?.length == 10

    /** The http or https URL of a link. */
    public val link: String? get() = if (type == "link") href?.takeIf(Links::isWeb) else null

    /** The URL of a media file for playback. */
    public val media: String? get() = if (type == "media") href else null

    /** The URL of an image in its smallest scale; see [image]. */
    public val image: String? get() = if (type == "image") href else null

    /** The label of an ad, and its advertiser. */
    public val disclosure: Disclosure?
        get() = if (type == "disclosure") members["label"].text?.let { Disclosure(it, members["advertiser"].text?.ifEmpty { null }) } else null

    /** The size at which an image is shown; null if the server sends none. */
    public val imageSize: CellSize?
        get() {
            val width = members["width"].number ?: return null
            return members["height"].number?.let { CellSize(width, it) }
        }

    /** The alternative text of an image, for people who do not see it. */
    public val alternativeText: String? get() = members["alt"].text

    /** The color until an image is loaded, as ARGB; null if the server sends none. */
    public val color: Int?
        get() = members["color"].text?.takeIf { it.length == 7 && it[0] == '#' }?.drop(1)?.toIntOrNull(16)?.let { it or (0xFF shl 24) }

    /** The blurred image until an image is loaded; null if the server sends none. */
    public val thumbHash: ThumbHash? get() = members["placeholder"].text?.let(ThumbHash::of)

    /**
     * Returns the URL of the image for a number of pixels per point: the smallest offered scale that is sufficient, or the largest one.
     *
     * ```kotlin
     * // A binding whose href is "/images/1" and whose scales are 1, 2 and 3.
     * binding.image(scale = 2f) // https://feeds.example.com/images/1@2x
     * ```
     */
    public fun image(scale: Float): String? {
        val image = image ?: return null
        val scales = members["scales"].array.orEmpty().mapNotNull { it.index }.sorted()
        val offered = scales.firstOrNull { it >= scale } ?: scales.lastOrNull()
        return if (offered == null || offered == scales.first()) image else "$image@${offered}x"
    }

    override fun equals(other: Any?): Boolean = other is CellBinding && members == other.members

    override fun hashCode(): Int = members.hashCode()

    private val href: String? get() = members["href"].text?.let { Links.resolve(it, base) }
}
