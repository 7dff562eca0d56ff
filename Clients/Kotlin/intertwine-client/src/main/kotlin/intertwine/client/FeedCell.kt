package intertwine.client

import kotlin.math.ceil
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject

/**
 * A cell as the server describes it: its view, its size, and the actions of its slots.
 *
 * ```kotlin
 * label.text = cell.bindings["username"]?.text
 * button.isVisible = !cell.state("saved")
 * ```
 *
 * @property id the id, such as `user:ann`.
 * @property identifier the identifier of its view; null if the server sends none.
 * @property size the size in points.
 * @property members all members, including those that this library does not know.
 */
public class FeedCell private constructor(
    public val id: String,
    public val identifier: String?,
    public val size: CellSize,
    public val members: JsonObject,
    private val base: String?,
) {
    @Volatile private var known: Map<CellSlot, CellAction>? = null

    /** The actions by slot. They are read when they are needed, so that a page with many cells is there sooner. */
    public val actions: Map<CellSlot, CellAction>
        get() {
            known?.let { return it }
            val actions = LinkedHashMap<CellSlot, CellAction>()
            for ((slot, action) in members["actions"].members.orEmpty()) CellAction.of(action, base)?.let { actions[CellSlot(slot)] = it }
            known = actions
            return actions
        }

    /** The bindings of the cell's configuration, by name of the part. */
    public val bindings: Map<String, CellBinding>
        get() = (actions[CellSlot.Configuration]?.kind as? CellAction.Kind.Bind)?.bindings.orEmpty()

    /** The disclosure of an ad, which is shown with it; null if the server sends none. */
    public val disclosure: Disclosure? get() = bindings.values.firstNotNullOfOrNull { it.disclosure }

    /** True if the cell is of an ad. The member `advertisement` decides; without it, a disclosure does. */
    public val isAdvertisement: Boolean get() = members["advertisement"].boolean ?: (disclosure != null)

    /** The id of the first cell of the item, if this is another cell of it: a companion, or a repetition of an ad. */
    public val primary: String? get() = members["primary"].text

    /** Why the ranker of the feed chose the item, such as "Because you follow Ada"; null without a reason. */
    public val reason: String? get() = members["reason"].text

    /** True if the cell is the header of a section that begins here. */
    public val isSectionHeader: Boolean get() = id.startsWith("section:")

    /** Returns a state of the viewer for this cell, such as `saved`; false if the server sends none. */
    public fun state(name: String): Boolean = members["state"][name].boolean ?: false

    /** Compares all members. */
    override fun equals(other: Any?): Boolean = other is FeedCell && members == other.members

    override fun hashCode(): Int = id.hashCode()

    override fun toString(): String = "FeedCell($id)"

    public companion object {
        /** Reads a cell, an object with an `id`; null for any other value. Links are relative to [base]. */
        public fun fromJson(value: JsonElement, base: String? = null): FeedCell? {
            val members = value.members ?: return null
            val id = members["id"].text ?: return null
            return FeedCell(id, members["identifier"].text, CellSize.of(members["size"]), members, base)
        }
    }
}

/**
 * The disclosure of an ad.
 *
 * @property label the label, such as `Sponsored`.
 * @property advertiser the name of the advertiser; null if the server sends none.
 */
public class Disclosure internal constructor(public val label: String, public val advertiser: String?)

/**
 * A size in points.
 *
 * ```kotlin
 * val height = cell.size.height(textScale = resources.configuration.fontScale)
 * ```
 *
 * @property width the width.
 * @property height the height at text scale 1.
 * @property textHeight the part of the height that lines of text take; 0 if the height is constant.
 */
public data class CellSize(val width: Double, val height: Double, val textHeight: Double = 0.0) {
    /**
     * Returns the height at a text scale. The growth is a whole number of points.
     *
     * ```kotlin
     * CellSize(width = 300.0, height = 100.0, textHeight = 40.0).height(textScale = 1.5f) // 120.0
     * ```
     *
     * @param textScale the size of text, divided by its default size. It is limited to the range from 0.5 to 4.
     */
    public fun height(textScale: Float): Double = height(textScale.toString().toDouble())

    internal fun height(textScale: Double): Double = if (textScale.isNaN()) height else height + ceil(textHeight * (textScale.coerceIn(0.5, 4.0) - 1))

    internal companion object {
        fun of(value: JsonElement?): CellSize {
            fun points(name: String, default: Double) = value[name].number?.takeIf { it > 0 }?.coerceAtMost(4096.0) ?: default
            val height = points("height", 200.0)
            return CellSize(points("width", 300.0), height, points("textHeight", 0.0).coerceAtMost(height))
        }
    }
}
