package androidx.compose.runtime

import kotlin.reflect.KProperty
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.StateFlow
import kotlinx.coroutines.flow.distinctUntilChanged
import kotlinx.coroutines.flow.map
import kotlinx.coroutines.launch

// A stub of Compose that runs without its compiler plugin: a composable function is a function that adds nodes to the current composition. Tests compose
// again after a change; nothing is skipped. Remembered values belong to their place among the nodes.

@Target(AnnotationTarget.FUNCTION, AnnotationTarget.TYPE, AnnotationTarget.TYPE_PARAMETER, AnnotationTarget.PROPERTY_GETTER)
annotation class Composable

/** A node of a composition, with the arguments that tests read. */
class Node(val name: String, val values: Map<String, Any?>) {
    val children = mutableListOf<Node>()

    /** Returns this node and all nodes in it. */
    fun all(): List<Node> = listOf(this) + children.flatMap { it.all() }

    fun all(name: String): List<Node> = all().filter { it.name == name }

    operator fun get(name: String): Any? = values[name]
}

class Composition(val scope: CoroutineScope, private val content: @Composable () -> Unit) {
    private class Slot(val keys: List<Any?>, val value: Any?)

    private var slots = mutableMapOf<String, Slot>()
    private var visited = mutableMapOf<String, Slot>()
    private val counts = mutableMapOf<String, Int>()
    private var path = ""
    private var nodes = mutableListOf<Node>()

    /** Composes, and returns the root. Values that are not remembered any more are forgotten. */
    fun compose(): Node {
        check(current == null)
        val root = Node("Root", emptyMap())
        nodes = root.children
        visited = mutableMapOf()
        counts.clear()
        current = this
        try {
            content()
        } finally {
            current = null
        }
        for ((place, slot) in slots) if (visited[place] !== slot) forget(slot.value)
        slots = visited
        for (slot in slots.values) (slot.value as? Effect)?.start(scope)
        changes.value += 1
        return root
    }

    fun dispose() {
        for (slot in slots.values) forget(slot.value)
        slots.clear()
    }

    private fun forget(value: Any?) {
        (value as? Effect)?.end()
        (value as? RememberedScope)?.job?.cancel()
    }

    private fun place(name: String): String {
        val place = "$path/$name"
        val number = counts.merge(place, 1, Int::plus)
        return "$place$number"
    }

    fun node(name: String, values: Map<String, Any?>, key: Any? = null, content: @Composable () -> Unit) {
        val (outer, before) = path to nodes
        path = if (key == null) place(name) else "$path/$name[$key]"
        check(key == null || counts.put(path, 1) == null) { "The key $key is used twice." }
        val node = Node(name, values)
        nodes.add(node)
        nodes = node.children
        try {
            content()
        } finally {
            path = outer
            nodes = before
        }
    }

    @Suppress("UNCHECKED_CAST")
    fun <T> remembered(keys: List<Any?>, make: () -> T): T {
        val place = place("remember")
        val slot = slots[place]?.takeIf { it.keys == keys } ?: Slot(keys, make())
        visited[place] = slot
        return slot.value as T
    }

    companion object {
        internal var current: Composition? = null
        internal val changes = MutableStateFlow(0)

        fun now(): Composition = checkNotNull(current) { "A composable function is called outside of a composition." }

        /** Reports a change of a state to `snapshotFlow`. */
        fun stateChanged() {
            changes.value += 1
        }
    }
}

internal class RememberedScope(val job: Job, val scope: CoroutineScope)

internal class Effect(private val block: (CoroutineScope) -> (() -> Unit)) {
    private var onEnd: (() -> Unit)? = null

    fun start(scope: CoroutineScope) {
        if (onEnd == null) onEnd = block(scope)
    }

    fun end() {
        onEnd?.invoke()
    }
}

@Composable fun <T> remember(calculation: () -> T): T = Composition.now().remembered(emptyList(), calculation)

@Composable fun <T> remember(key1: Any?, calculation: () -> T): T = Composition.now().remembered(listOf(key1), calculation)

@Composable fun <T> remember(key1: Any?, key2: Any?, calculation: () -> T): T = Composition.now().remembered(listOf(key1, key2), calculation)

@Composable
fun LaunchedEffect(key1: Any?, block: suspend CoroutineScope.() -> Unit) = launched(listOf(key1), block)

@Composable
fun LaunchedEffect(key1: Any?, key2: Any?, block: suspend CoroutineScope.() -> Unit) = launched(listOf(key1, key2), block)

@Composable
fun LaunchedEffect(key1: Any?, key2: Any?, key3: Any?, block: suspend CoroutineScope.() -> Unit) = launched(listOf(key1, key2, key3), block)

private fun launched(keys: List<Any?>, block: suspend CoroutineScope.() -> Unit) {
    Composition.now().remembered(keys) {
        Effect { scope ->
            val job = scope.launch(block = block)
            return@Effect { job.cancel() }
        }
    }
}

interface DisposableEffectResult {
    fun dispose()
}

class DisposableEffectScope {
    inline fun onDispose(crossinline onDisposeEffect: () -> Unit): DisposableEffectResult =
        object : DisposableEffectResult {
            override fun dispose() = onDisposeEffect()
        }
}

@Composable
fun DisposableEffect(key1: Any?, effect: DisposableEffectScope.() -> DisposableEffectResult) {
    Composition.now().remembered(listOf(key1)) {
        Effect {
            val result = DisposableEffectScope().effect()
            return@Effect { result.dispose() }
        }
    }
}

@Composable
fun DisposableEffect(key1: Any?, key2: Any?, effect: DisposableEffectScope.() -> DisposableEffectResult) =
    DisposableEffect(listOf(key1, key2), effect)

@Composable
fun rememberCoroutineScope(): CoroutineScope {
    val composition = Composition.now()
    return composition.remembered(emptyList()) {
        val job = Job(composition.scope.coroutineContext[Job])
        RememberedScope(job, CoroutineScope(composition.scope.coroutineContext + job))
    }.scope
}

interface State<out T> {
    val value: T
}

interface MutableState<T> : State<T> {
    override var value: T
}

operator fun <T> State<T>.getValue(owner: Any?, property: KProperty<*>): T = value

operator fun <T> MutableState<T>.setValue(owner: Any?, property: KProperty<*>, value: T) {
    this.value = value
}

fun <T> mutableStateOf(value: T): MutableState<T> =
    object : MutableState<T> {
        override var value: T = value
            set(new) {
                field = new
                Composition.stateChanged()
            }
    }

@Composable
fun <T> rememberUpdatedState(newValue: T): State<T> {
    val state = remember { mutableStateOf(newValue) }
    state.value = newValue
    return state
}

@Composable
fun <T> StateFlow<T>.collectAsState(): State<T> =
    object : State<T> {
        override val value: T = this@collectAsState.value
    }

fun <T> snapshotFlow(block: () -> T): Flow<T> = Composition.changes.map { block() }.distinctUntilChanged()

class CompositionLocal<T> internal constructor(private val make: () -> T) {
    internal val values = mutableListOf<T>()
    val current: T @Composable get() = values.lastOrNull() ?: make()

    infix fun provides(value: T): ProvidedValue<T> = ProvidedValue(this, value)
}

typealias ProvidableCompositionLocal<T> = CompositionLocal<T>

class ProvidedValue<T> internal constructor(internal val local: CompositionLocal<T>, internal val value: T) {
    internal fun within(content: () -> Unit) {
        local.values.add(value)
        try {
            content()
        } finally {
            local.values.removeAt(local.values.lastIndex)
        }
    }
}

fun <T> staticCompositionLocalOf(defaultFactory: () -> T): CompositionLocal<T> = CompositionLocal(defaultFactory)

@Composable
fun CompositionLocalProvider(value: ProvidedValue<*>, content: @Composable () -> Unit) {
    value.within(content)
}
