package androidx.compose.foundation

import androidx.compose.runtime.Composable
import androidx.compose.runtime.Composition
import androidx.compose.ui.Modifier
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.graphics.ImageBitmap
import androidx.compose.ui.layout.ContentScale
import androidx.compose.ui.semantics.Role

@RequiresOptIn annotation class ExperimentalFoundationApi

fun Modifier.background(color: Color): Modifier = then("background", color)

fun Modifier.combinedClickable(
    enabled: Boolean = true,
    onClickLabel: String? = null,
    role: Role? = null,
    onLongClickLabel: String? = null,
    onLongClick: (() -> Unit)? = null,
    onDoubleClick: (() -> Unit)? = null,
    onClick: () -> Unit,
): Modifier = then("onClick", onClick).then("onLongClick", onLongClick).then("onLongClickLabel", onLongClickLabel).then("enabled", enabled)

@Composable
fun Image(
    bitmap: ImageBitmap,
    contentDescription: String?,
    modifier: Modifier = Modifier,
    contentScale: ContentScale = ContentScale.Fit,
) {
    val values = mapOf("bitmap" to bitmap, "contentDescription" to contentDescription, "modifier" to modifier, "contentScale" to contentScale)
    Composition.now().node("Image", values) {}
}
