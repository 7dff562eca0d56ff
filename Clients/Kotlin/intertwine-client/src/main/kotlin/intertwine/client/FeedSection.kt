package intertwine.client

/**
 * A section of a list, with its optional header and its cells in order.
 *
 * @property id the id of the header; empty if the list begins without one.
 * @property header the header; null if the list begins without one.
 * @property rows the cells without the header.
 */
public data class FeedSection(public val id: String, public val header: FeedCell?, public val rows: List<Row>) {
    /**
     * A cell with its key.
     *
     * @property key identifies the cell as long as it is in the list. Why: an ad can be in the list twice, with one id.
     * @property cell the cell.
     */
    public data class Row(public val key: Long, public val cell: FeedCell)

    /** The name of the section in the feed; null if the list begins without a header. */
    public val name: String? get() = header?.id?.removePrefix("section:")

    /** The cells without the header. */
    public val cells: List<FeedCell> get() = rows.map { it.cell }

    internal companion object {
        /** Splits a list into sections at its headers. Hidden entries are omitted. */
        fun of(entries: List<ListEntry>): List<FeedSection> {
            val sections = ArrayList<FeedSection>()
            var header: FeedCell? = null
            var rows = ArrayList<Row>()
            fun end() {
                if (header != null || rows.isNotEmpty()) sections.add(FeedSection(header?.id.orEmpty(), header, rows))
            }
            for (entry in entries) {
                when {
                    entry.isHidden -> continue
                    entry.cell.isSectionHeader -> {
                        end()
                        header = entry.cell
                        rows = ArrayList()
                    }
                    else -> rows.add(Row(entry.key, entry.cell))
                }
            }
            end()
            return sections
        }
    }
}

/** One entry of the list. It is hidden if it was dismissed here and the server has not removed it yet. */
internal data class ListEntry(val key: Long, val cell: FeedCell, val isHidden: Boolean = false)
