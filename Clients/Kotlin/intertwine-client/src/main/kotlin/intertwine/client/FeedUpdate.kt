package intertwine.client

/**
 * A position in a list.
 *
 * @property section the index of the section.
 * @property item the index of the cell in the section, without the header.
 */
public data class IndexPath(public val section: Int, public val item: Int) : Comparable<IndexPath> {
    override fun compareTo(other: IndexPath): Int = compareValuesBy(this, other, { it.section }, { it.item })
}

/**
 * The difference between two states of a list.
 *
 * Deletions and sources of moves are old positions; insertions and targets of moves are new positions. Cells of deleted or inserted
 * sections are not listed, because they change together with their section. An adapter that needs flat positions compares the [sections]
 * by [FeedSection.Row.key].
 *
 * ```kotlin
 * list.updates.collect { update ->
 *     println("${update.insertions.size} inserted, ${update.deletions.size} deleted")
 *     show(update.sections)
 * }
 * ```
 *
 * @property sections the list after the update.
 * @property sectionDeletions the deleted sections as old indices, last first.
 * @property sectionInsertions the inserted sections as new indices, first first.
 * @property sectionReconfigurations the sections with changed headers, as new indices.
 * @property deletions the deleted cells as old positions, last first.
 * @property insertions the inserted cells as new positions, first first.
 * @property moves the moved cells.
 * @property reconfigurations the changed cells, as new positions.
 * @property isAtEnd true if the last page is loaded.
 */
public class FeedUpdate internal constructor(
    public val sections: List<FeedSection>,
    public val sectionDeletions: List<Int>,
    public val sectionInsertions: List<Int>,
    public val sectionReconfigurations: List<Int>,
    public val deletions: List<IndexPath>,
    public val insertions: List<IndexPath>,
    public val moves: List<Move>,
    public val reconfigurations: List<IndexPath>,
    public val isAtEnd: Boolean,
) {
    /**
     * A move of a cell.
     *
     * @property from the old position.
     * @property to the new position.
     */
    public data class Move(public val from: IndexPath, public val to: IndexPath)

    /** True if the two lists are equal. */
    public val isEmpty: Boolean
        get() =
            sectionDeletions.isEmpty() && sectionInsertions.isEmpty() && sectionReconfigurations.isEmpty() && deletions.isEmpty() &&
                insertions.isEmpty() && moves.isEmpty() && reconfigurations.isEmpty()

    public companion object {
        /** Compares two lists by the keys of their cells and the ids of their sections. */
        public fun between(old: List<FeedSection>, new: List<FeedSection>, isAtEnd: Boolean = false): FeedUpdate {
            val staying = StayingSections(old.map { it.id }, new.map { it.id })
            val oldPositions = positions(old, staying.old)
            val newPositions = positions(new, staying.new)
            val moves = ArrayList<Move>()
            val reconfigurations = ArrayList<IndexPath>()
            for (index in new.indices) {
                if (index !in staying.new) continue
                val section = new[index]
                // As many cells of this section as possible keep their position without a move.
                val here = section.rows.mapIndexedNotNull { item, row -> oldPositions[row.key]?.let { item to it } }
                val same = here.filter { (_, from) -> old[from.section].id == section.id }
                val fixed = longestIncreasing(same.map { (_, from) -> from.item }).mapTo(HashSet()) { same[it].first }
                for ((item, from) in here) {
                    val to = IndexPath(index, item)
                    if (item !in fixed) moves.add(Move(from, to))
                    if (old[from.section].rows[from.item].cell != section.rows[item].cell) reconfigurations.add(to)
                }
            }
            val headers = old.associate { it.id to it.header }
            return FeedUpdate(
                sections = new,
                sectionDeletions = old.indices.filter { it !in staying.old }.reversed(),
                sectionInsertions = new.indices.filter { it !in staying.new },
                sectionReconfigurations = new.indices.filter { it in staying.new && headers[new[it].id] != new[it].header },
                deletions = oldPositions.filterKeys { it !in newPositions }.values.sortedDescending(),
                insertions = newPositions.filterKeys { it !in oldPositions }.values.sorted(),
                moves = moves,
                reconfigurations = reconfigurations,
                isAtEnd = isAtEnd,
            )
        }

        private fun positions(sections: List<FeedSection>, included: Set<Int>): Map<Long, IndexPath> {
            val positions = HashMap<Long, IndexPath>()
            for (index in included) sections[index].rows.forEachIndexed { item, row -> positions[row.key] = IndexPath(index, item) }
            return positions
        }
    }

    /** The indices of the sections that are in both lists in equal order. The others are deleted and inserted. */
    private class StayingSections(oldIds: List<String>, newIds: List<String>) {
        val old: Set<Int>
        val new: Set<Int>

        init {
            val positions = HashMap<String, Int>()
            oldIds.forEachIndexed { index, id -> if (id !in positions) positions[id] = index }
            val seen = HashSet<String>()
            val common = newIds.indices.mapNotNull { index -> positions[newIds[index]]?.takeIf { seen.add(newIds[index]) }?.let { it to index } }
            val fixed = longestIncreasing(common.map { it.first }).map { common[it] }
            old = fixed.mapTo(LinkedHashSet()) { it.first }
            new = fixed.mapTo(LinkedHashSet()) { it.second }
        }
    }
}

/** Returns the indices of a longest increasing subsequence. */
internal fun longestIncreasing(values: List<Int>): List<Int> {
    // The index of the smallest value that can end a subsequence, by length.
    val ends = ArrayList<Int>()
    val before = IntArray(values.size)
    for ((index, value) in values.withIndex()) {
        val found = ends.binarySearch { values[it].compareTo(value) }
        val length = if (found < 0) -found - 1 else found
        before[index] = if (length > 0) ends[length - 1] else -1
        if (length == ends.size) ends.add(index) else ends[length] = index
    }
    return generateSequence(ends.lastOrNull()) { before[it].takeIf { earlier -> earlier >= 0 } }.toList().asReversed()
}
