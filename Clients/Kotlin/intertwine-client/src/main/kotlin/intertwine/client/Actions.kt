package intertwine.client

import java.io.IOException
import java.util.UUID
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.asStateFlow
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.JsonElement

/**
 * The actions in the slots of cells.
 *
 * Each action has an idempotency key, so that the server performs it once, however often it is sent. If the server is unavailable, actions wait
 * in order and are sent later, by the next action or [sendPending].
 *
 * ```kotlin
 * val actions = Actions(client)
 * val invocation = actions.perform(CellSlot.Dismissal, cell, showing = OptimisticChange.hiding(cell, list))
 * invocation.undo?.let { actions.undo(it) }
 * ```
 *
 * The request is part of the caller's coroutine. If an action must survive its screen, call [perform] in a scope that does. It needs no closing: it
 * has no coroutine of its own.
 *
 * @param store the storage of waiting actions; null for memory only.
 * @param onFailure called for each waiting action that failed, after its optimistic change was reverted.
 */
public class Actions(
    private val client: FeedClient,
    private val store: OutboxStore? = null,
    private val onFailure: suspend (Failure) -> Unit = {},
) {
    /**
     * A waiting action that failed.
     *
     * @property key the idempotency key of the action.
     * @property href the href of the request.
     * @property problem the problem; null if the action waited for more than a day.
     */
    public class Failure internal constructor(public val key: String, public val href: String, public val problem: FeedProblem?)

    /** Held while queued requests are sent. */
    private val sending = Mutex()
    private val storing = Mutex()
    private var outbox: Outbox? = null
    private val changes = HashMap<String, OptimisticChange>()
    private val pendingCounts = MutableStateFlow(0)

    /** The number of waiting actions. It is 0 until the storage was read, at the first action or [sendPending]. */
    public val pendingCount: StateFlow<Int> = pendingCounts.asStateFlow()

    /**
     * Performs a slot of a cell. Throws [FeedProblem.Refused], [FeedProblem.SignInRequired] and other problems that a later attempt would not
     * solve, after the optimistic change was reverted.
     *
     * ```kotlin
     * val rating = buildJsonObject { put("stars", 5) }
     * actions.perform(CellSlot("rate"), cell, input = rating)
     * ```
     *
     * @param input the input of the slot, as its action's `input` describes it.
     * @param values the values of the variables of a template.
     * @param key the idempotency key. Performing an action again with an equal key has an equal result.
     * @param showing a change that is shown at once, and reverted if the action fails or the coroutine is cancelled.
     */
    public suspend fun perform(
        slot: CellSlot,
        cell: FeedCell,
        showing: OptimisticChange? = null,
        input: JsonElement? = null,
        values: Map<String, String> = emptyMap(),
        key: String = UUID.randomUUID().toString(),
    ): Invocation {
        val action = cell.actions[slot] ?: return Invocation.NoOperation
        val request =
            when (val kind = action.kind) {
                is CellAction.Kind.Request -> kind
                is CellAction.Kind.Link -> return Invocation.Link(client.absolute(kind.url))
                is CellAction.Kind.Bind, is CellAction.Kind.Other -> return Invocation.NoOperation
            }
        val entry = Outbox.Entry(key, request.method, action.href(values).orEmpty(), input ?: request.body, client.viewer, client.now())
        showing?.apply?.invoke()
        try {
            // Queued requests are sent first, because an action may depend on earlier ones.
            if (!sendPending()) return enqueue(entry, showing)
            return try {
                Invocation.performed(submit(entry), showing, client)
            } catch (problem: FeedProblem) {
                if (problem.needsSignIn || !problem.isRetryable) throw problem
                enqueue(entry, showing)
            }
        } catch (error: Throwable) {
            withContext(NonCancellable) { showing?.revert?.invoke() }
            throw error
        }
    }

    /** Reverts a performed or waiting action, together with its optimistic change. */
    public suspend fun undo(undo: Invocation.Undo) {
        val request = undo.request
        if (request == null) {
            // A request that is being sent must complete before it can be reverted.
            sending.withLock { if (!remove(undo.id)) throw FeedProblem.CannotBeUndone() }
        } else {
            try {
                client.submit(request.method, request.href, request.body, undo.id, ANSWER)
            } catch (problem: FeedProblem.Refused) {
                throw when (problem.details.status) {
                    409 -> FeedProblem.CannotBeUndone()
                    410 -> FeedProblem.UndoExpired()
                    else -> problem
                }
            }
        }
        undo.change?.revert?.invoke()
    }

    /**
     * Sends the waiting actions in order, as long as the server accepts them. Call it when the network is available again, and after a sign-in.
     *
     * ```kotlin
     * scope.launch { client.signInRequired.collect { signIn(); actions.sendPending() } }
     * ```
     *
     * @return true if no action of the viewer waits any more.
     */
    public suspend fun sendPending(): Boolean = sending.withLock {
        var unsaved = 0
        try {
            while (true) {
                val entry = outbox { entries.firstOrNull { it.viewer == client.viewer } } ?: return@withLock true
                if (client.now() - entry.createdAt > Outbox.MAX_AGE) {
                    // The server has forgotten the key, and would perform an action twice that it has already performed.
                    fail(entry, null)
                    continue
                }
                try {
                    submit(entry)
                } catch (problem: FeedProblem) {
                    if (problem.isRetryable || problem.needsSignIn) return@withLock false
                    fail(entry, problem)
                    continue
                }
                // Not each time: an entry that is sent twice has one key.
                unsaved += 1
                withContext(NonCancellable) { remove(entry.key, isSaved = unsaved % SAVE_INTERVAL == 0) }
            }
            true
        } finally {
            if (unsaved % SAVE_INTERVAL != 0) withContext(NonCancellable) { outbox { save() } }
        }
    }

    private suspend fun submit(entry: Outbox.Entry): JsonElement? =
        client.submit(entry.method, entry.href, entry.body, entry.key.takeIf { needsKey(entry.method) }, ANSWER)

    private suspend fun enqueue(entry: Outbox.Entry, change: OptimisticChange?): Invocation {
        outbox {
            if (entries.size >= Outbox.MAX_ENTRIES) throw FeedProblem.OutboxIsFull()
            entries.add(entry)
            if (change != null) changes[entry.key] = change
            save()
        }
        return Invocation.Queued(Invocation.Undo(entry.key, null, null, change))
    }

    private suspend fun fail(entry: Outbox.Entry, problem: FeedProblem?) = withContext(NonCancellable) {
        val change = outbox { changes[entry.key] }
        remove(entry.key)
        change?.revert?.invoke()
        onFailure(Failure(entry.key, entry.href, problem))
    }

    /** Removes an entry. Returns false if it does not exist. */
    private suspend fun remove(key: String, isSaved: Boolean = true): Boolean = outbox {
        changes.remove(key)
        val isRemoved = entries.removeAll { it.key == key }
        if (isRemoved && isSaved) save()
        isRemoved
    }

    /** Reads or changes the outbox on a background thread. */
    private suspend fun <Result> outbox(work: Outbox.() -> Result): Result = storing.withLock {
        withContext(Dispatchers.IO) {
            val outbox = outbox ?: Outbox(store).also { outbox = it }
            outbox.work().also { pendingCounts.value = outbox.entries.size }
        }
    }

    internal companion object {
        private const val SAVE_INTERVAL = 16

        /** The array in the response of the server to an action and to an undo. */
        private const val ANSWER = "commands"

        /** Returns true if requests of a method need a key. Deletions and replacements can be repeated without one. */
        fun needsKey(method: String): Boolean = method == "POST" || method == "PATCH"
    }
}
