package intertwine.client

import java.util.UUID
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject

/**
 * The result of performing a slot.
 *
 * ```kotlin
 * when (val invocation = actions.perform(CellSlot.Selection, cell)) {
 *     is Invocation.Link -> open(invocation.url)
 *     is Invocation.Performed -> invocation.open?.let { open(it) }
 *     is Invocation.Queued, Invocation.NoOperation -> {}
 * }
 * ```
 */
public sealed class Invocation {
    /** The undo of the action; null if it cannot be undone. */
    public open val undo: Undo? get() = null

    /** The cell has no such slot, or its action is of an unknown type. This is no error. */
    public data object NoOperation : Invocation()

    /** The app opens this URL. The server counts the click and redirects. */
    public class Link internal constructor(public val url: String) : Invocation()

    /**
     * The server performed the action.
     *
     * @property id the id of the invocation; null if no command was performed.
     * @property slot the slot that was performed.
     * @property commands the outcomes of the commands, in order.
     * @property presentation the presentation for the app: `type`, `screen` and `arguments`.
     * @property open the URL that the app opens, if the action leads elsewhere.
     * @property value the complete response; null if it has no body.
     */
    public class Performed
    internal constructor(
        public val id: String?,
        public val slot: CellSlot?,
        public val commands: List<CommandOutcome>,
        public val presentation: JsonObject?,
        public val open: String?,
        override val undo: Undo?,
        public val value: JsonElement?,
    ) : Invocation()

    /** The server is unavailable. The request is sent later, and [undo] removes it until then. */
    public class Queued internal constructor(override val undo: Undo) : Invocation()

    /**
     * An undo of a performed or queued action.
     *
     * @property id the idempotency key of the undo; for a queued action, the key of the action.
     * @property expiresAtMillis the time until which the server accepts the undo, in milliseconds since 1970. The server decides: the clock of a
     *   device can be wrong.
     */
    public class Undo internal constructor(public val id: String, public val expiresAtMillis: Long?, internal val request: CellAction.Kind.Request?, internal val change: OptimisticChange?)

    internal companion object {
        fun performed(value: JsonElement?, change: OptimisticChange?, client: FeedClient): Performed {
            val undo = value["undo"]?.let { CellAction.of(it, client.base) }
            return Performed(
                id = value["invocation"]["id"].text,
                slot = value["slot"].text?.let(::CellSlot),
                commands = value["commands"].array?.mapNotNull { CommandOutcome.of(it) }.orEmpty(),
                presentation = value["presentation"].members?.takeIf { it["screen"].text != null },
                open = value["open"]["href"].text?.let { Links.resolve(it, client.base) }?.takeIf(Links::isWeb),
                undo = (undo?.kind as? CellAction.Kind.Request)?.let { Undo(UUID.randomUUID().toString(), undo.expiresAtMillis, it, change) },
                value = value,
            )
        }
    }
}

/**
 * The outcome of a command.
 *
 * @property command the name of the command, such as `dismiss`.
 * @property outcome `performed`, `failed`, `skipped`, or another word.
 * @property members all members, including those that this library does not know.
 */
public class CommandOutcome internal constructor(public val command: String, public val outcome: String?, public val members: JsonObject) {
    internal companion object {
        fun of(value: JsonElement): CommandOutcome? {
            val members = value.members ?: return null
            return members["command"].text?.let { CommandOutcome(it, members["outcome"].text, members) }
        }
    }
}

/**
 * A change that an app shows before the server has responded, with its reversal.
 *
 * ```kotlin
 * val change = OptimisticChange(apply = { button.isSelected = true }, revert = { button.isSelected = false })
 * actions.perform(CellSlot("like"), cell, showing = change)
 * ```
 *
 * @property apply shows the change. It is called before the request is sent, in the coroutine of the caller.
 * @property revert reverts the change. It is called if the server refuses the action, and after an undo.
 */
public class OptimisticChange(internal val apply: suspend () -> Unit, internal val revert: suspend () -> Unit) {
    public companion object {
        /** Returns a change that hides the cell in the list at once. */
        public fun hiding(cell: FeedCell, list: FeedList): OptimisticChange =
            OptimisticChange(apply = { list.hide(cell.id) }, revert = { list.unhide(cell.id) })
    }
}
