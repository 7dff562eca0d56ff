package androidx.compose.ui

/** A chain of the calls that made it; tests read it. */
interface Modifier {
    val elements: Map<String, Any?>

    fun then(name: String, value: Any?): Modifier = Elements(elements + (name to value))

    companion object : Modifier {
        override val elements: Map<String, Any?> = emptyMap()
    }

    private class Elements(override val elements: Map<String, Any?>) : Modifier
}

enum class Alignment {
    TopCenter,
    BottomCenter,
    Center;

    enum class Horizontal {
        Start,
        CenterHorizontally,
    }

    companion object {
        val CenterHorizontally = Horizontal.CenterHorizontally
        val Start = Horizontal.Start
    }
}
