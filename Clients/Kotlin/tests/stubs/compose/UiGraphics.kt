package androidx.compose.ui.graphics

import android.graphics.Bitmap

class ImageBitmap internal constructor(val bitmap: Bitmap)

fun Bitmap.asImageBitmap(): ImageBitmap = ImageBitmap(this)

class Color(val argb: Int) {
    override fun equals(other: Any?): Boolean = other is Color && other.argb == argb

    override fun hashCode(): Int = argb
}
