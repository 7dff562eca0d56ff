package intertwine.client

/**
 * The app's views by identifier of their cells, for any type of view.
 *
 * ```kotlin
 * val registry = CellRegistry<TextView>()
 * registry.register("UserTableViewCell", make = { TextView(context) }) { view, cell -> view.text = cell.bindings["username"]?.text }
 * ```
 *
 * It is not thread-safe: an app uses it on the main thread.
 */
public class CellRegistry<View : Any> {
    private class Registration<View>(val version: Int, val make: () -> View, val bind: (View, FeedCell) -> Unit)

    private val registrations = LinkedHashMap<String, Registration<View>>()
    private val viewTypes = ArrayList<String>()

    /**
     * Registers a view for identifiers, and replaces earlier registrations.
     *
     * @param version the newest version of the cells that the view supports.
     * @param make returns a new view.
     * @param bind fills a view with a cell. A reused view still shows its last cell.
     */
    public fun register(vararg identifiers: String, version: Int = 1, make: () -> View, bind: (View, FeedCell) -> Unit) {
        for (identifier in identifiers) {
            if (identifier !in registrations) viewTypes.add(identifier)
            registrations[identifier] = Registration(version, make, bind)
        }
    }

    /** Registers a view for all cells without a registration. Without it, these cells are not shown. */
    public fun registerFallback(make: () -> View, bind: (View, FeedCell) -> Unit): Unit = register(FALLBACK, make = make, bind = bind)

    /** The identifiers with a registration, in order. */
    public val identifiers: List<String> get() = registrations.keys.toList()

    /**
     * The capabilities of the app for [FeedClient.capabilities] (RFC 9651). It is null with a fallback, because the app then shows every cell.
     *
     * ```kotlin
     * client.capabilities = registry.capabilities // UserTableViewCell, *;q=0
     * ```
     */
    public val capabilities: String?
        get() {
            if (FALLBACK in registrations) return null
            val named = registrations.entries.sortedBy { it.key }.map { (identifier, registration) ->
                item(identifier) + if (registration.version == 1) "" else ";v=${registration.version}"
            }
            return (named + "*;q=0").joinToString(", ")
        }

    /** Returns the identifier under which a cell is shown: its own, [FALLBACK], or null if it is not shown. */
    public fun identifier(cell: FeedCell): String? = cell.identifier?.takeIf { it in registrations } ?: FALLBACK.takeIf { it in registrations }

    /** Returns the number of a cell's view, for `RecyclerView.Adapter.getItemViewType`; -1 if the cell is not shown. */
    public fun viewType(cell: FeedCell): Int = identifier(cell)?.let(viewTypes::indexOf) ?: -1

    /** Returns a new view for the cells of a [viewType]; null if there is none. */
    public fun make(viewType: Int): View? = viewTypes.getOrNull(viewType)?.let(registrations::get)?.make?.invoke()

    /** Fills a view that was made for the cell's [viewType]. */
    public fun bind(view: View, cell: FeedCell) {
        identifier(cell)?.let(registrations::get)?.bind?.invoke(view, cell)
    }

    public companion object {
        /** The identifier of the views for cells without a registration. */
        public const val FALLBACK: String = "fallback"

        private val token = Regex("""[A-Za-z][A-Za-z0-9:/!#$%&'*+.^_`|~-]*""")

        /** Returns an identifier as a structured field (RFC 9651, section 3.3): a token if possible, a string otherwise. */
        private fun item(identifier: String): String =
            if (token.matches(identifier)) identifier else "\"" + identifier.replace("\\", "\\\\").replace("\"", "\\\"") + "\""
    }
}
