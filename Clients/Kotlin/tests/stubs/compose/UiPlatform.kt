package androidx.compose.ui.platform

import androidx.compose.runtime.CompositionLocal
import androidx.compose.runtime.staticCompositionLocalOf
import androidx.compose.ui.unit.Density

interface UriHandler {
    fun openUri(uri: String)
}

val LocalDensity: CompositionLocal<Density> = staticCompositionLocalOf { Density(1f) }
val LocalUriHandler: CompositionLocal<UriHandler> = staticCompositionLocalOf { error("no handler") }
