package androidx.compose.ui.layout

enum class ContentScale {
    Crop,
    Fit,
}
