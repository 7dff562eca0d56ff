package androidx.lifecycle.compose

import androidx.compose.runtime.CompositionLocal
import androidx.compose.runtime.staticCompositionLocalOf
import androidx.lifecycle.LifecycleOwner

val LocalLifecycleOwner: CompositionLocal<LifecycleOwner> = staticCompositionLocalOf { error("no owner") }
