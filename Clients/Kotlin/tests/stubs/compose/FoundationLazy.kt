package androidx.compose.foundation.lazy

import androidx.compose.runtime.Composable
import androidx.compose.runtime.Composition
import androidx.compose.runtime.remember
import androidx.compose.ui.Modifier

interface LazyItemScope

interface LazyListScope {
    fun item(key: Any? = null, contentType: Any? = null, content: @Composable LazyItemScope.() -> Unit)

    fun items(
        count: Int,
        key: ((index: Int) -> Any)? = null,
        contentType: (index: Int) -> Any? = { null },
        itemContent: @Composable LazyItemScope.(index: Int) -> Unit,
    )
}

interface LazyListItemInfo {
    val index: Int
    val key: Any
    val offset: Int
    val size: Int
}

interface LazyListLayoutInfo {
    val visibleItemsInfo: List<LazyListItemInfo>
    val viewportStartOffset: Int
    val viewportEndOffset: Int
}

class LazyListState {
    class Item(override val index: Int, override val key: Any, override val offset: Int, override val size: Int) : LazyListItemInfo

    /** The window, as pixels; tests set it together with the items in it. */
    var window: IntRange = 0..0
    var items: List<LazyListItemInfo> = emptyList()
    var scrolledTo: Int? = null
    val layoutInfo: LazyListLayoutInfo
        get() =
            object : LazyListLayoutInfo {
                override val visibleItemsInfo = items
                override val viewportStartOffset = window.first
                override val viewportEndOffset = window.last
            }

    suspend fun animateScrollToItem(index: Int) {
        scrolledTo = index
    }
}

@Composable fun rememberLazyListState(): LazyListState = remember { LazyListState() }

/** Composes all items, each under its key. */
@Composable
fun LazyColumn(modifier: Modifier = Modifier, state: LazyListState = rememberLazyListState(), content: LazyListScope.() -> Unit) {
    val composition = Composition.now()
    composition.node("LazyColumn", mapOf("modifier" to modifier)) {
        val scope =
            object : LazyListScope, LazyItemScope {
                override fun item(key: Any?, contentType: Any?, content: @Composable LazyItemScope.() -> Unit) =
                    composition.node("Item", mapOf("key" to key, "contentType" to contentType), key) { content() }

                override fun items(
                    count: Int,
                    key: ((index: Int) -> Any)?,
                    contentType: (index: Int) -> Any?,
                    itemContent: @Composable LazyItemScope.(index: Int) -> Unit,
                ) {
                    for (index in 0 until count) item(key?.invoke(index), contentType(index)) { itemContent(index) }
                }
            }
        scope.content()
    }
}
