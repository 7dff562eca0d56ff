package androidx.compose.foundation.layout

import androidx.compose.runtime.Composable
import androidx.compose.runtime.Composition
import androidx.compose.ui.Alignment
import androidx.compose.ui.Modifier
import androidx.compose.ui.unit.Dp

fun Modifier.fillMaxWidth(): Modifier = then("fillMaxWidth", true)

fun Modifier.fillMaxSize(): Modifier = then("fillMaxSize", true)

fun Modifier.heightIn(min: Dp = Dp.Unspecified, max: Dp = Dp.Unspecified): Modifier = then("minHeight", min)

fun Modifier.height(height: Dp): Modifier = then("height", height)

fun Modifier.padding(all: Dp): Modifier = then("padding", all)

interface BoxScope {
    fun Modifier.align(alignment: Alignment): Modifier
}

interface ColumnScope

@Composable
fun Box(modifier: Modifier = Modifier, contentAlignment: Alignment = Alignment.TopCenter, content: @Composable BoxScope.() -> Unit) {
    val scope =
        object : BoxScope {
            override fun Modifier.align(alignment: Alignment) = then("align", alignment)
        }
    Composition.now().node("Box", mapOf("modifier" to modifier)) { scope.content() }
}

@Composable
fun Box(modifier: Modifier) = Composition.now().node("Box", mapOf("modifier" to modifier)) {}

@Composable
fun Column(
    modifier: Modifier = Modifier,
    horizontalAlignment: Alignment.Horizontal = Alignment.Start,
    content: @Composable ColumnScope.() -> Unit,
) {
    Composition.now().node("Column", mapOf("modifier" to modifier)) { object : ColumnScope {}.content() }
}
fun Modifier.size(size: Dp): Modifier = then("size", size)

interface RowScope

@Composable
fun Row(modifier: Modifier = Modifier, content: @Composable RowScope.() -> Unit) =
    Composition.now().node("Row", mapOf("modifier" to modifier)) { object : RowScope {}.content() }
