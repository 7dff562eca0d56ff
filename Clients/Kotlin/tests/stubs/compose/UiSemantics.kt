package androidx.compose.ui.semantics

import androidx.compose.ui.Modifier

/** The properties of a node for accessibility services. */
class SemanticsPropertyReceiver {
    val values = mutableMapOf<String, Any?>()
}

class CustomAccessibilityAction(val label: String, val action: () -> Boolean)

enum class LiveRegionMode {
    Polite,
}

enum class Role {
    Button,
}

var SemanticsPropertyReceiver.contentDescription: String
    get() = error("write only")
    set(value) {
        values["contentDescription"] = value
    }

var SemanticsPropertyReceiver.customActions: List<CustomAccessibilityAction>
    get() = error("write only")
    set(value) {
        values["customActions"] = value
    }

var SemanticsPropertyReceiver.liveRegion: LiveRegionMode
    get() = error("write only")
    set(value) {
        values["liveRegion"] = value
    }

fun SemanticsPropertyReceiver.heading() {
    values["heading"] = true
}

fun Modifier.semantics(mergeDescendants: Boolean = false, properties: SemanticsPropertyReceiver.() -> Unit): Modifier =
    then("semantics", SemanticsPropertyReceiver().apply(properties).values + ("mergeDescendants" to mergeDescendants))
