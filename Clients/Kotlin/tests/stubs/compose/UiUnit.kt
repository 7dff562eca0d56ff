package androidx.compose.ui.unit

class Dp(val value: Float) {
    override fun equals(other: Any?): Boolean = other is Dp && other.value == value

    override fun hashCode(): Int = value.hashCode()

    override fun toString(): String = "$value.dp"

    companion object {
        val Unspecified = Dp(Float.NaN)
    }
}

inline val Int.dp: Dp get() = Dp(toFloat())
inline val Double.dp: Dp get() = Dp(toFloat())
inline val Float.dp: Dp get() = Dp(this)

interface Density {
    val density: Float
    val fontScale: Float
}

fun Density(density: Float, fontScale: Float = 1f): Density =
    object : Density {
        override val density = density
        override val fontScale = fontScale
    }
