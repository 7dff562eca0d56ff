package intertwine.client

/** The pages of a list with their cells, and the application of changes. It does no I/O, and is not thread-safe. */
internal class FeedListState(first: String) {
    class Page(val count: Int, val syncToken: String?, val next: String?)

    /** The range of a request for changes: the indices of pages, of their entries, and the pages' tokens. */
    class Window(val pages: IntRange, val entries: IntRange, val syncTokens: List<String>)

    var entries: List<ListEntry> = emptyList()
        private set

    var pages: List<Page> = emptyList()
        private set

    /** The page after all pages; null at the end of the feed. */
    var next: String? = first
        private set

    private var keys = 0L

    fun append(page: FeedPage) {
        entries = entries + page.cells.map(::entry)
        pages = pages + Page(page.cells.size, page.syncToken, page.next)
        next = page.next
    }

    /** Applies the server's changes to a window of pages. Returns false, and changes nothing, if the pages must be loaded again. */
    fun apply(changes: FeedChanges, window: Window): Boolean {
        if (window.pages.isEmpty()) return false
        if (window.pages.last >= pages.size || pages.slice(window.pages).map { it.syncToken } != window.syncTokens) {
            // The changes arrived both by a live event and by a request; the first response has been applied.
            val end = window.pages.first + changes.pages.size
            if (changes.pages.isEmpty() || end > pages.size) return false
            return pages.subList(window.pages.first, end).map { it.syncToken } == changes.pages.map { it.syncToken }
        }
        val cells = changed(entries.slice(window.entries), changes) ?: return false
        if (changes.pages.sumOf { it.count } != cells.size) return false

        // If the last page has another end now, the following pages are no longer consecutive.
        val follows = pages[window.pages.last].next == changes.next
        val fresh = changes.pages.mapIndexed { index, page -> Page(page.count, page.syncToken, changes.next.takeIf { index == changes.pages.lastIndex }) }
        entries = entries.subList(0, window.entries.first) + cells + if (follows) entries.drop(window.entries.last + 1) else emptyList()
        pages = pages.subList(0, window.pages.first) + fresh + if (follows) pages.drop(window.pages.last + 1) else emptyList()
        if (!follows || pages.isEmpty()) next = changes.next
        return true
    }

    /** Returns the entries after changes; null if the changes do not match them. */
    private fun changed(old: List<ListEntry>, changes: FeedChanges): List<ListEntry>? {
        val removals = changes.removed.map { it.index to it.id } + changes.moved.map { it.from to it.id }
        val removed = removals.mapTo(HashSet()) { it.first }
        if (removed.size != removals.size || removals.any { (index, id) -> old.getOrNull(index)?.cell?.id != id }) return null
        val cells = old.filterIndexedTo(ArrayList()) { index, _ -> index !in removed }
        val insertions = changes.moved.map { it.to to old[it.from] } + changes.inserted.map { it.index to entry(it.cell) }
        for ((index, entry) in insertions.sortedBy { it.first }) {
            if (index > cells.size) return null
            cells.add(index, entry)
        }
        for (placed in changes.reconfigured) {
            if (cells.getOrNull(placed.index)?.cell?.id != placed.cell.id) return null
            cells[placed.index] = cells[placed.index].copy(cell = placed.cell)
        }
        return cells
    }

    /** Replaces all pages. Cells that are still in the list keep their keys. */
    fun replace(fresh: List<FeedPage>, next: String?) {
        val known = entries.groupByTo(HashMap()) { it.cell.id }.mapValues { ArrayDeque(it.value) }
        entries = fresh.flatMap { it.cells }.map { cell -> known[cell.id]?.removeFirstOrNull()?.let { ListEntry(it.key, cell) } ?: entry(cell) }
        pages = fresh.map { Page(it.cells.size, it.syncToken, it.next) }
        this.next = next
    }

    /** Hides or shows a cell, and the other cells of its item if it is the first one: companions, and repetitions of an ad. */
    fun setHidden(id: String, isHidden: Boolean) {
        entries = entries.map { if (it.cell.id == id || it.cell.primary == id) it.copy(isHidden = isHidden) else it }
    }

    /** Returns as many pages around the visible entries as fit into a number of characters; null if changes cannot be requested. */
    fun window(visible: IntRange, maxLength: Int): Window? {
        if (pages.isEmpty()) return null
        val ends = pages.runningFold(0) { end, page -> end + page.count }.drop(1)
        var from = ends.indexOfFirst { visible.first < it }.let { if (it < 0) pages.lastIndex else it }
        var to = from + 1
        var left = maxLength
        fun fits(page: Page): Boolean {
            val length = (page.syncToken ?: return false).length + 1
            if (length > left) return false
            left -= length
            return true
        }
        if (!fits(pages[from])) return null
        while (to < pages.size && to - from < MAX_PAGES && ends[to - 1] <= visible.last && fits(pages[to])) to += 1
        // Pages after and before are added in turn, as long as they fit.
        var grew = true
        while (grew && to - from < MAX_PAGES) {
            grew = false
            if (to < pages.size && fits(pages[to])) {
                to += 1
                grew = true
            }
            if (from > 0 && to - from < MAX_PAGES && fits(pages[from - 1])) {
                from -= 1
                grew = true
            }
        }
        val start = if (from == 0) 0 else ends[from - 1]
        return Window(from until to, start until ends[to - 1], pages.subList(from, to).mapNotNull { it.syncToken })
    }

    private fun entry(cell: FeedCell): ListEntry = ListEntry(++keys, cell)

    companion object {
        /** The maximum number of pages in one request for changes. */
        const val MAX_PAGES = 16
    }
}
