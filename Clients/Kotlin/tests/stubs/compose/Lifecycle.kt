package androidx.lifecycle

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.collectLatest

open class Lifecycle {
    enum class State {
        CREATED,
        STARTED,
    }

    /** The state; tests set it. */
    val current = MutableStateFlow(State.STARTED)
}

interface LifecycleOwner {
    val lifecycle: Lifecycle
}

suspend fun Lifecycle.repeatOnLifecycle(state: Lifecycle.State, block: suspend CoroutineScope.() -> Unit) {
    current.collectLatest { if (it >= state) coroutineScope { block() } }
}

val LifecycleOwner.lifecycleScope: CoroutineScope get() = CoroutineScope(kotlinx.coroutines.Dispatchers.Main)

suspend fun LifecycleOwner.repeatOnLifecycle(state: Lifecycle.State, block: suspend CoroutineScope.() -> Unit): Unit =
    lifecycle.repeatOnLifecycle(state, block)

open class ViewModel {
    protected open fun onCleared() {}
}

val ViewModel.viewModelScope: CoroutineScope get() = CoroutineScope(kotlinx.coroutines.Dispatchers.Main)
