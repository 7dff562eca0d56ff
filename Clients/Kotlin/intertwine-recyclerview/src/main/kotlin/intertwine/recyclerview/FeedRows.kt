package intertwine.recyclerview

import androidx.recyclerview.widget.ListUpdateCallback
import intertwine.client.FeedCell
import intertwine.client.FeedSection
import intertwine.client.FeedUpdate

/** A row of the list: a header, or a cell with its key. */
internal class FeedRow(val cell: FeedCell, val key: Long?) {
    /** Identifies the row among those that stay in the list. */
    val id: Any get() = key ?: cell.id
}

/** The rows of sections in one list, as `RecyclerView` counts them. */
internal class FeedRows(val sections: List<FeedSection>) {
    private val starts = sections.runningFold(0) { start, section -> start + length(section) }
    val rows: List<FeedRow> = sections.flatMap { section ->
        listOfNotNull(section.header?.let { FeedRow(it, null) }) + section.rows.map { FeedRow(it.cell, it.key) }
    }

    private fun length(section: FeedSection) = section.rows.size + if (section.header == null) 0 else 1

    private fun positions(section: Int): IntRange = starts[section] until starts[section + 1]

    private fun position(section: Int, item: Int): Int = starts[section] + item + if (sections[section].header == null) 0 else 1

    /**
     * Reports the changes from these rows to others. Each position is about the list after the changes before it, as `RecyclerView` requires; the
     * positions of a [FeedUpdate] are all about the list before or the list after.
     */
    fun reportChanges(to: FeedRows, callback: ListUpdateCallback) {
        val update = FeedUpdate.between(sections, to.sections)
        val removed = (update.sectionDeletions.flatMap { positions(it) } + update.deletions.map { position(it.section, it.item) }).toSet()
        val inserted = (update.sectionInsertions.flatMap { to.positions(it) } + update.insertions.map { to.position(it.section, it.item) }).toSet()
        val moved = update.moves.mapTo(HashSet<Any>()) { to.rows[to.position(it.to.section, it.to.item)].id }

        for (range in ranges(removed).asReversed()) callback.onRemoved(range.first, range.last - range.first + 1)
        val current = rows.filterIndexed { position, _ -> position !in removed }.mapTo(ArrayList()) { it.id }
        val wanted = to.rows.filterIndexed { position, _ -> position !in inserted }.map { it.id }
        // The other rows are in order. After each step, a row that has moved is behind the one that it follows.
        for ((index, id) in wanted.withIndex()) {
            if (id !in moved) continue
            val from = current.indexOf(id)
            val after = if (index == 0) 0 else current.indexOf(wanted[index - 1]) + 1
            val target = if (from < after) after - 1 else after
            if (from == target) continue
            current.add(target, current.removeAt(from))
            callback.onMoved(from, target)
        }
        for (range in ranges(inserted)) callback.onInserted(range.first, range.last - range.first + 1)
        val headers = update.sectionReconfigurations.filter { to.sections[it].header != null }.map { to.starts[it] }
        val changed = update.reconfigurations.map { to.position(it.section, it.item) } + headers
        for (range in ranges(changed.toSet())) callback.onChanged(range.first, range.last - range.first + 1, CHANGED)
    }

    companion object {
        /** The payload of a changed row. With a payload, its view stays and is filled again, without an animation. */
        private val CHANGED = Any()

        /** Returns the ranges of consecutive numbers, in order. */
        private fun ranges(numbers: Set<Int>): List<IntRange> {
            val ranges = ArrayList<IntRange>()
            for (number in numbers.sorted()) {
                val last = ranges.lastOrNull()
                if (last != null && last.last + 1 == number) ranges[ranges.lastIndex] = last.first..number else ranges.add(number..number)
            }
            return ranges
        }
    }
}
