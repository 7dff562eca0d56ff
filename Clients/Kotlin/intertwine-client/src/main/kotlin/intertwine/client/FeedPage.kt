package intertwine.client

import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject

/**
 * A page of cells.
 *
 * @property cells the cells in the order of the feed.
 * @property next the URL of the next page; null at the end of the feed.
 * @property previous the URL of the previous page; null at the start of the feed.
 * @property syncToken the token for requesting changes, if the page was requested with `changes=true`.
 * @property sections the names of the sections on the page.
 * @property language the language of the texts (RFC 5646), if the server sends it.
 * @property members all members of `page`, including those that this library does not know.
 */
public class FeedPage internal constructor(
    public val cells: List<FeedCell>,
    public val next: String?,
    public val previous: String?,
    public val syncToken: String?,
    public val sections: List<String>,
    public val language: String?,
    public val members: JsonObject,
) {
    /** True if the ranker of the feed failed, so that the page has an earlier ranking or the feed's own order. */
    public val isDegraded: Boolean get() = members["degraded"].boolean ?: false

    public companion object {
        /**
         * Reads a page; null for any other value. Links are relative to [base].
         *
         * Entries that are not cells are omitted. Changes of such a page are not requested, because its indices differ from the server's.
         */
        public fun fromJson(value: JsonElement, base: String? = null, language: String? = null): FeedPage? {
            val entries = value["cells"].array ?: return null
            val page = value["page"].members ?: return null
            val cells = entries.mapNotNull { FeedCell.fromJson(it, base) }
            return FeedPage(
                cells = cells,
                next = page["next"].text?.let { Links.resolve(it, base) },
                previous = page["previous"].text?.let { Links.resolve(it, base) },
                syncToken = if (cells.size == entries.size) page["syncToken"].text else null,
                sections = page["sections"].array.orEmpty().mapNotNull { it.text },
                language = language,
                members = page,
            )
        }
    }
}

/**
 * A feed of the server.
 *
 * @property name the name, such as `main`.
 * @property title the title in the requested language; null if the feed has none.
 * @property url the first page.
 * @property layouts the layouts for which the feed has cells: `collection`, `table`.
 * @property sections the sections in order.
 * @property filters the filters in the order of the configuration.
 */
public class FeedSummary
internal constructor(
    public val name: String,
    public val title: String?,
    public val url: String,
    public val layouts: List<String>,
    public val sections: List<Section>,
    public val filters: List<Filter>,
) {
    /**
     * A filter of a feed, for [FeedClient.url].
     *
     * @property name the name of the field.
     * @property type the type of the values: `choice`, `flag`, `number`, `text` or `tags`. The list is open.
     * @property values the values with their numbers of items: all of a choice or a flag, and the most frequent ones of another type.
     */
    public class Filter internal constructor(public val name: String, public val type: String, public val values: Map<String, Int>)

    /**
     * A section of a feed.
     *
     * @property name the name.
     * @property title the title in the requested language; null if the section has none.
     * @property url the first page of the section.
     */
    public class Section internal constructor(public val name: String, public val title: String?, public val url: String)

    internal companion object {
        fun of(value: JsonElement, base: String?): FeedSummary? {
            val first = section(value, base) ?: return null
            return FeedSummary(
                first.name, first.title, first.url, value["layouts"].array.orEmpty().mapNotNull { it.text },
                value["sections"].array.orEmpty().mapNotNull { section(it, base) }, value["filters"].array.orEmpty().mapNotNull { filter(it) })
        }

        private fun filter(value: JsonElement): Filter? {
            val name = value["name"].text ?: return null
            val values = value["values"].array.orEmpty().mapNotNull { found -> found["value"].text?.let { it to (found["count"].number?.toInt() ?: 0) } }
            return Filter(name, value["type"].text ?: return null, values.toMap())
        }

        private fun section(value: JsonElement, base: String?): Section? {
            val name = value["name"].text ?: return null
            val url = value["href"].text?.let { Links.resolve(it, base) } ?: return null
            return Section(name, value["title"].text, url)
        }
    }
}
