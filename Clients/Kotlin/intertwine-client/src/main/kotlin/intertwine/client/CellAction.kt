package intertwine.client

import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject

/**
 * The name of a slot of a cell. A kind of item declares further slots, such as `CellSlot("like")`.
 *
 * ```kotlin
 * actions.perform(CellSlot("like"), cell)
 * ```
 */
@JvmInline
public value class CellSlot(public val name: String) {
    override fun toString(): String = name

    public companion object {
        /** Fills the parts of the cell. */
        public val Configuration: CellSlot = CellSlot("configuration")
        /** The tap on the cell. */
        public val Selection: CellSlot = CellSlot("selection")
        /** Reverts the selection. */
        public val Deselection: CellSlot = CellSlot("deselection")
        /** Removes the cell from the viewer's feed. */
        public val Dismissal: CellSlot = CellSlot("dismissal")
        /** Reports that the cell was visible. */
        public val Impression: CellSlot = CellSlot("impression")
        /** Cancels the requests of the cell's images. */
        public val Cancellation: CellSlot = CellSlot("cancellation")
    }
}

/**
 * The action in a slot of a cell, as the server describes it. [Actions] performs it.
 *
 * ```kotlin
 * button.text = cell.actions[CellSlot("like")]?.label
 * ```
 *
 * @property members all members, including those that this library does not know.
 */
public class CellAction private constructor(private val type: String, public val members: JsonObject, private val base: String?) {
    @Volatile private var known: Kind? = null

    /** The operation. */
    public val kind: Kind get() = known ?: (kind() ?: Kind.Other(type)).also { known = it }

    /** The operation of an action. */
    public sealed class Kind {
        /** Fill the named parts of the cell. */
        public class Bind internal constructor(public val bindings: Map<String, CellBinding>) : Kind()

        /** Send a request to the server. The href can be a template, which [CellAction.href] expands. */
        public class Request internal constructor(public val method: String, public val href: String, public val body: JsonElement?) : Kind()

        /** Open a link. */
        public class Link internal constructor(public val url: String) : Kind()

        /** A type that this library does not know, or one with missing members. It is no operation. */
        public class Other internal constructor(public val type: String) : Kind()
    }

    /** The label for people; null if the server sends none. */
    public val label: String? get() = members["label"].text

    /** The JSON Schema of the input of the request, if it takes any. */
    public val input: JsonElement? get() = members["input"]

    /** The time until which the server performs the action, in milliseconds since 1970. */
    public val expiresAtMillis: Long? get() = members["expiresAt"].text?.let(Dates::milliseconds)

    /**
     * Returns the href of a request with its variables expanded (RFC 6570, limited to `{name}`); null for other operations. A variable without
     * a value is empty.
     */
    public fun href(values: Map<String, String> = emptyMap()): String? {
        val href = (kind as? Kind.Request)?.href ?: return null
        if (members["templated"].boolean != true) return href
        return variable.replace(href) { Links.escaped(values[it.groupValues[1]].orEmpty()) }
    }

    private fun kind(): Kind? =
        when (type) {
            "bind" ->
                members["bindings"].members?.let { bindings ->
                    val known = LinkedHashMap<String, CellBinding>(bindings.size)
                    for ((part, binding) in bindings) if (binding is JsonObject) known[part] = CellBinding(binding, base)
                    Kind.Bind(known)
                }
            "request" -> {
                val href = members["href"].text
                val method = members["method"].text
                if (href != null && method != null && method in methods) Kind.Request(method, href, members["body"]) else null
            }
            "link" -> members["href"].text?.let { Links.resolve(it, base) }?.let(Kind::Link)
            else -> null
        }

    internal companion object {
        private val variable = Regex("""\{(\w+)\}""")
        private val methods = setOf("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")

        /** Reads an action, an object with a `type`; null for any other value. */
        fun of(value: JsonElement, base: String?): CellAction? {
            val members = value.members ?: return null
            val type = members["type"].text ?: return null
            return CellAction(type, members, base)
        }
    }
}
