package intertwine.compose

import android.graphics.Bitmap
import android.graphics.BitmapFactory
import androidx.compose.foundation.Image
import androidx.compose.foundation.background
import androidx.compose.foundation.layout.Box
import androidx.compose.runtime.Composable
import androidx.compose.runtime.DisposableEffect
import androidx.compose.runtime.LaunchedEffect
import androidx.compose.runtime.getValue
import androidx.compose.runtime.mutableStateOf
import androidx.compose.runtime.remember
import androidx.compose.runtime.setValue
import androidx.compose.runtime.staticCompositionLocalOf
import androidx.compose.ui.Modifier
import androidx.compose.ui.graphics.Color
import androidx.compose.ui.graphics.ImageBitmap
import androidx.compose.ui.graphics.asImageBitmap
import androidx.compose.ui.layout.ContentScale
import androidx.compose.ui.platform.LocalDensity
import androidx.compose.ui.semantics.contentDescription
import androidx.compose.ui.semantics.semantics
import intertwine.client.CellImage
import intertwine.client.FeedCell
import intertwine.client.ThumbHash
import intertwine.ui.FeedModel
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext

/** The row whose content is composed: its model, and its key; null for a header. */
internal class FeedRow(val model: FeedModel, val key: Long?)

internal val LocalFeedRow = staticCompositionLocalOf<FeedRow?> { null }

/**
 * The picture of a part of a cell, at the scale of the screen: its placeholder until it is loaded. If the row leaves the screen, its request is
 * cancelled. It is used in the content of a cell of [FeedColumn].
 *
 * ```kotlin
 * FeedColumn(model) {
 *     cell("PhotoCell") { cell -> FeedImage(cell, "photo", Modifier.fillMaxWidth()) }
 * }
 * ```
 *
 * @param part the name of the binding, such as `avatar`.
 */
@Composable
public fun FeedImage(cell: FeedCell, part: String, modifier: Modifier = Modifier, contentScale: ContentScale = ContentScale.Crop) {
    val row = LocalFeedRow.current
    val scale = LocalDensity.current.density
    val binding = cell.bindings[part]
    val url = binding?.image(scale)
    var bitmap by remember(url) { mutableStateOf(binding?.thumbHash?.let(::placeholder)) }
    // Before the layout: the row is not seen before its picture, however short the time of its impression is.
    DisposableEffect(row, url) {
        if (url != null) row?.key?.let { row.model.setLoading(it, part, isLoading = true) }
        onDispose {}
    }
    LaunchedEffect(row, url) {
        if (row == null || url == null) return@LaunchedEffect
        row.model.images.images(cell, scale, part).collect { image ->
            if (image !is CellImage.Loaded) return@collect
            val decoded = withContext(Dispatchers.Default) { BitmapFactory.decodeByteArray(image.bytes, 0, image.bytes.size) }
            if (decoded == null) return@collect
            bitmap = decoded.asImageBitmap()
            row.key?.let { row.model.setLoading(it, part, isLoading = false) }
        }
    }
    val description = binding?.alternativeText?.ifEmpty { null }
    val color = binding?.color
    val filled = if (color == null) modifier else modifier.background(Color(color))
    val picture = bitmap
    if (picture != null) {
        Image(picture, description, filled, contentScale = contentScale)
    } else {
        Box(if (description == null) filled else filled.semantics { contentDescription = description })
    }
}

private fun placeholder(hash: ThumbHash): ImageBitmap =
    Bitmap.createBitmap(hash.pixels, hash.width, hash.height, Bitmap.Config.ARGB_8888).asImageBitmap()
